import { Injectable } from '@nestjs/common';
import { emailKey } from './rate-limit-key.js';

/** about two megabytes; the email that failed longest ago goes first */
const MAX_EMAILS = 10_000;

/** Remembers whose logins failed at this instance, so that the log line of a refused login names the user without a query. */
@Injectable()
export class FailedLogins {
  private readonly users = new Map<string, string>();

  /** @param email normalized, of a user who exists */
  note(email: string, userId: string): void {
    const key = emailKey(email);
    this.users.delete(key);
    this.users.set(key, userId);
    if (this.users.size > MAX_EMAILS) this.users.delete(this.users.keys().next().value!);
  }

  findUser(email: string | undefined): string | undefined {
    return email === undefined ? undefined : this.users.get(emailKey(email));
  }
}
