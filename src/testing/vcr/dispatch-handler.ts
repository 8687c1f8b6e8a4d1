/** What undici lets a handler do to a request that is under way. */
export interface DispatchController {
  readonly aborted: boolean;
  readonly paused: boolean;
  readonly reason: unknown;
  rawHeaders: Buffer[];
  rawTrailers: Buffer[];
  abort(reason?: unknown): void;
  pause(): void;
  resume(): void;
}

/** What undici calls back, from its version 7 on. */
export interface DispatchHandler {
  onRequestStart(controller: DispatchController, context: object): void;
  onResponseStart?(
    controller: DispatchController,
    status: number,
    headers: Record<string, string | string[]>,
    statusText: string,
  ): void;
  onResponseData?(controller: DispatchController, chunk: Buffer): void;
  onResponseEnd?(controller: DispatchController, trailers: object): void;
  onResponseError?(controller: DispatchController, error: unknown): void;
}

/** The same in version 6, which Node 20 has in it. */
export interface OlderHandler {
  onConnect?(abort: (reason?: unknown) => void, context: object): void;
  onHeaders?(status: number, rawHeaders: Buffer[], resume: () => void, statusText: string): boolean;
  onData?(chunk: Buffer): boolean;
  onComplete?(rawTrailers: Buffer[]): void;
  onError?(error: unknown): void;
}

/** An older handler as a newer one. */
export function newerHandler(handler: DispatchHandler | OlderHandler): DispatchHandler {
  if ("onRequestStart" in handler) return handler;
  return {
    onRequestStart: (controller, context) => handler.onConnect?.((reason) => controller.abort(reason), context),
    onResponseStart: (controller, status, _, statusText) => {
      const takes = handler.onHeaders?.(status, controller.rawHeaders, () => controller.resume(), statusText);
      if (takes === false) controller.pause();
    },
    onResponseData: (controller, chunk) => {
      if (handler.onData?.(chunk) === false) controller.pause();
    },
    onResponseEnd: ({ rawTrailers }) => handler.onComplete?.(rawTrailers),
    onResponseError: (_, error) => handler.onError?.(error),
  };
}
