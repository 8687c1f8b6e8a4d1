type Kind = "connection" | "lookup" | "datagram" | "process";
export const ways: Record<Kind, Record<string, () => Promise<unknown>>>;
export const children: Record<string, (code: string) => Promise<string>>;
