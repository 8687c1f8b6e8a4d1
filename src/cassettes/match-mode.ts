/** How a call is told from others. What is kept with the recordings, since both sides have to agree. */
export type MatchMode = "exact" | "messages" | "last-message" | "position";

export const MATCH_MODES: readonly MatchMode[] = ["exact", "messages", "last-message", "position"];
