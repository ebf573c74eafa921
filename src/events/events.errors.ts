import { Problem } from '../problems/problem.js';

export class CursorExpiredError extends Problem {
  constructor() {
    super('cursor_expired');
  }
}

export const TOO_MANY_WAIT = 'Too many requests of this service wait for events; let one of them end first.';

export class TooManyWaitError extends Problem {
  constructor() {
    super('rate_limited', { detail: TOO_MANY_WAIT, headers: { 'Retry-After': '1' } });
  }
}
