/**
 * A certificate for this machine's own names, signed by itself and good for a year. A client has to be told to
 * trust it (`NODE_EXTRA_CA_CERTS`, `SSL_CERT_FILE`, `curl --cacert`).
 */
export async function makeCertificate(): Promise<{ key: string; cert: string }> {
  const { generate } = await import("selfsigned");
  const now = Date.now();
  const made = await generate([{ name: "commonName", value: "localhost" }], {
    keyType: "ec",
    algorithm: "sha256",
    // A day early, for machines whose clocks disagree.
    notBeforeDate: new Date(now - DAY_MS),
    notAfterDate: new Date(now + 365 * DAY_MS),
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", digitalSignature: true, keyCertSign: true },
      { name: "extKeyUsage", serverAuth: true },
      {
        name: "subjectAltName",
        altNames: [
          { type: 2, value: "localhost" },
          { type: 7, ip: "127.0.0.1" },
          { type: 7, ip: "::1" },
        ],
      },
    ],
  });
  return { key: made.private, cert: made.cert };
}

const DAY_MS = 86_400_000;
