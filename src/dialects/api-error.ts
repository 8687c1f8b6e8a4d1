export interface ApiErrorFields {
  status: number;
  message: string;
  /** The provider's word for the kind of error; each dialect has one for every status. */
  type?: string;
  code?: string | number | null;
  param?: string | null;
  /** Seconds; sent as `Retry-After`. */
  retryAfter?: number;
  /** Further members of the error object, sent as they are. */
  extra?: Record<string, unknown>;
}

/** An error that reaches the caller in its provider's own shape. */
export class ApiError extends Error implements ApiErrorFields {
  override readonly name = "ApiError";
  readonly status: number;
  readonly type: string | undefined;
  readonly code: string | number | null | undefined;
  readonly param: string | null | undefined;
  readonly retryAfter: number | undefined;
  readonly extra: Record<string, unknown> | undefined;

  constructor(fields: ApiErrorFields) {
    super(fields.message);
    this.status = fields.status;
    this.type = fields.type;
    this.code = fields.code;
    this.param = fields.param;
    this.retryAfter = fields.retryAfter;
    this.extra = fields.extra;
  }
}

/** A 400: what is wrong, and where in the body. */
export function badRequest(message: string, param: string | null = null): ApiError {
  return new ApiError({ status: 400, message, param });
}
