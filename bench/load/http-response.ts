export interface HttpResponse {
  status: number;
  body: Buffer;
  /** whether the server closes the connection now, as Accounts does after a number of requests */
  isLast: boolean;
}

const HEAD_END = '\r\n\r\n';
const NOTHING = Buffer.alloc(0);
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/**
 * Reads one response after another from the bytes of a connection. Knows what a server sends to a client that
 * does not pipeline: a status line, headers, and a body with a length or in chunks.
 */
export class ResponseReader {
  private received: Buffer = NOTHING;
  /** what `received` is the beginning of, once a response comes in pieces */
  private space: Buffer = NOTHING;
  private head:
    | (Omit<HttpResponse, 'body'> & { bodyStart: number; length: number; chunked: boolean })
    | undefined;

  /** The whole response when these bytes complete it. */
  read(bytes: Buffer): HttpResponse | undefined {
    this.append(bytes);
    this.head ??= this.readHead();
    if (!this.head) return undefined;

    const { status, isLast, bodyStart, length, chunked } = this.head;
    const body = chunked ? this.chunks(bodyStart) : this.slice(bodyStart, length);
    if (!body) return undefined;
    this.received = NOTHING;
    this.space = NOTHING;
    this.head = undefined;
    return { status, isLast, body };
  }

  private append(bytes: Buffer): void {
    if (this.received.length === 0) {
      this.received = bytes;
      return;
    }
    const length = this.received.length + bytes.length;
    if (this.space.length < length) {
      // Twice as much: a long list comes in hundreds of pieces, which must not be copied with each of them.
      this.space = Buffer.allocUnsafe(2 * length);
      this.received.copy(this.space);
    }
    bytes.copy(this.space, this.received.length);
    this.received = this.space.subarray(0, length);
  }

  private readHead(): typeof this.head {
    const end = this.received.indexOf(HEAD_END);
    if (end < 0) return undefined;
    const text = this.received.toString('latin1', 0, end).toLowerCase();
    const status = Number(text.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/.exec(text)?.[1];
    return {
      status,
      isLast: text.includes('\r\nconnection: close'),
      bodyStart: end + HEAD_END.length,
      length: Number(length ?? 0),
      chunked: length === undefined && text.includes('\r\ntransfer-encoding: chunked'),
    };
  }

  private slice(start: number, length: number): Buffer | undefined {
    return this.received.length < start + length ? undefined : this.received.subarray(start, start + length);
  }

  private chunks(start: number): Buffer | undefined {
    // The last chunk is empty; looking at the end first saves walking an incomplete body each time.
    if (!this.received.subarray(-5).equals(LAST_CHUNK)) return undefined;
    const parts: Buffer[] = [];
    for (let at = start; ;) {
      const lineEnd = this.received.indexOf('\r\n', at);
      const size = Number.parseInt(this.received.toString('latin1', at, lineEnd), 16);
      if (size === 0) return Buffer.concat(parts);
      const data = this.slice(lineEnd + 2, size);
      if (!data) return undefined;
      parts.push(data);
      at = lineEnd + 2 + size + 2;
    }
  }
}
