import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { whileLocked } from "../transport/file-lock.ts";
import { writeWholeFile } from "../transport/whole-file.ts";

/** The file that clients are told to trust. */
export const AUTHORITY_CERTIFICATE = "ca.pem";
const AUTHORITY_KEY = "ca-key.pem";

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3650;
/** Longer ones are refused by clients. */
const HOST_DAYS = 397;

/** In PEM. */
export interface HostCertificate {
  key: string;
  /** With that of the authority. */
  cert: string;
}

/** A certificate authority of one machine's own: who trusts it takes the certificates that it makes for any host. */
export class LocalAuthority {
  readonly #key: string;
  readonly #cert: string;

  private constructor(key: string, cert: string) {
    this.#key = key;
    this.#cert = cert;
  }

  /**
   * Reads the authority of a folder, or makes one there on first use. Its key is readable for its owner only.
   * @throws {Error} what the file system says
   */
  static async open(folder: string): Promise<LocalAuthority> {
    const there = await LocalAuthority.#read(folder);
    if (there !== undefined) return there;
    await mkdir(folder, { recursive: true });
    // Of several that begin at the same time one makes it, or all but the last would be trusted by nobody.
    return whileLocked(
      join(folder, "ca.lock"),
      async () => (await LocalAuthority.#read(folder)) ?? LocalAuthority.#create(folder),
    );
  }

  static async #read(folder: string): Promise<LocalAuthority | undefined> {
    try {
      const [key, cert] = await Promise.all(
        [AUTHORITY_KEY, AUTHORITY_CERTIFICATE].map((name) => readFile(join(folder, name), "utf8")),
      );
      return new LocalAuthority(key!, cert!);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  }

  static async #create(folder: string): Promise<LocalAuthority> {
    const { generate } = await import("selfsigned");
    const made = await generate([{ name: "commonName", value: "Stuntdouble local authority" }], {
      ...validFor(AUTHORITY_DAYS),
      extensions: [
        { name: "basicConstraints", cA: true, critical: true },
        { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
      ],
    });
    await writeWholeFile(join(folder, AUTHORITY_KEY), made.private, 0o600);
    await writeWholeFile(join(folder, AUTHORITY_CERTIFICATE), made.cert);
    return new LocalAuthority(made.private, made.cert);
  }

  /** Makes what a server of this host needs to speak TLS. */
  async certificateOf(host: string): Promise<HostCertificate> {
    const { generate } = await import("selfsigned");
    const made = await generate([{ name: "commonName", value: host.slice(0, 64) }], {
      ...validFor(HOST_DAYS),
      ca: { key: this.#key, cert: this.#cert },
      extensions: [
        { name: "basicConstraints", cA: false, critical: true },
        { name: "keyUsage", digitalSignature: true, keyEncipherment: true },
        { name: "extKeyUsage", serverAuth: true },
        { name: "subjectAltName", altNames: [{ type: 2, value: host }] },
      ],
    });
    return { key: made.private, cert: `${made.cert}\n${this.#cert}` };
  }
}

function validFor(days: number) {
  const now = Date.now();
  return {
    keyType: "ec" as const,
    algorithm: "sha256" as const,
    // A day early, for machines whose clocks disagree.
    notBeforeDate: new Date(now - DAY_MS),
    notAfterDate: new Date(now + (days - 1) * DAY_MS),
  };
}
