/** Accounts cannot be reached, or the feed is silent, so the guard cannot decide. */
export class Unavailable extends Error {
  constructor(cause: unknown) {
    super('Accounts is unavailable.', { cause });
    this.name = 'Unavailable';
  }
}
