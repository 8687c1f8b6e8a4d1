/**
 * Keeps the beginning and the end of a text of any length: the beginning shows how a process started, the end why it
 * failed, and one that logs without end must not fill the memory.
 */
export class BoundedText {
  private head = Buffer.alloc(0);
  private tail: Buffer[] = [];
  private tailBytes = 0;
  private droppedBytes = 0;
  private readonly halfBytes: number;

  constructor(limitBytes: number) {
    this.halfBytes = Math.floor(limitBytes / 2);
  }

  push(chunk: Buffer): void {
    const room = this.halfBytes - this.head.length;
    if (room > 0) this.head = Buffer.concat([this.head, chunk.subarray(0, room)]);
    const rest = room > 0 ? chunk.subarray(room) : chunk;
    if (rest.length === 0) return;
    this.tail.push(rest);
    this.tailBytes += rest.length;
    if (this.tailBytes <= 2 * this.halfBytes) return;
    const kept = Buffer.from(Buffer.concat(this.tail).subarray(-this.halfBytes));
    this.droppedBytes += this.tailBytes - kept.length;
    this.tail = [kept];
    this.tailBytes = kept.length;
  }

  toString(): string {
    const tail = Buffer.concat(this.tail);
    const kept = tail.subarray(-this.halfBytes);
    const dropped = this.droppedBytes + tail.length - kept.length;
    if (dropped === 0) return Buffer.concat([this.head, kept]).toString("utf8");
    return `${this.head.toString("utf8")}\n[… ${dropped} bytes left out …]\n${kept.toString("utf8")}`;
  }
}
