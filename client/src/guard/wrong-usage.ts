/** Has one line for each wrong setting, and no line has a secret. */
export class WrongUsage extends Error {
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
    this.lines = lines;
  }
}

/** @throws Error with the message */
export function refuse(message: string): never {
  throw new Error(message);
}
