/** Accounts could not be asked, or the feed is silent: what is asked for may be true or not. */
export class Unavailable extends Error {
  constructor(cause: unknown) {
    super('Accounts cannot be asked now.', { cause });
    this.name = 'Unavailable';
  }
}
