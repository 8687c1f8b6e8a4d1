/** A secret that was found: what and where, never the secret. */
export interface Finding {
  /** Name of the detector. */
  detector: string;
  /** What the text is: `request body`. */
  place: string;
  /** Where in a JSON document; of a stream, the event's number is the first segment. Secrets in keys are replaced. */
  pointer?: string;
  /** Characters from the beginning of the text or of the JSON string that it is in. */
  offset: number;
  /** What stands there now: `«email:1»`. */
  replacement: string;
}

/** A secret stands in a field that must stay as it is, such as a signature: the recording must not be written. */
export class WholeFieldError extends Error {
  override readonly name = "WholeFieldError";
  readonly detector: string;
  readonly place: string;
  readonly pointer: string;

  constructor(detector: string, place: string, pointer: string) {
    super(
      `${place}: ${pointer} holds what the detector "${detector}" takes for a secret, and providers refuse a value of ` +
        "this kind that was changed. It was not written. Keep the secret out of the call, or allow it (`allow` in the redaction options, or in a file for --redact).",
    );
    this.detector = detector;
    this.place = place;
    this.pointer = pointer;
  }
}

/** The redaction options ask for what cannot be done. */
export class RedactionOptionsError extends Error {
  override readonly name = "RedactionOptionsError";
}
