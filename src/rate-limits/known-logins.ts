import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { clientKey, emailKey } from './rate-limit-store.js';
import { EventsRepository } from '../events/events.repository.js';
import { UsersRepository } from '../users/users.repository.js';

/** about two megabytes; the email that failed longest ago goes first */
const MAX_EMAILS = 10_000;

/** Lets the log line of a refused login name the user without a query. */
@Injectable()
export class FailedLogins {
  private readonly users = new LRUCache<string, string>({ max: MAX_EMAILS });

  note(email: string, userId: string): void {
    this.users.set(emailKey(email), userId);
  }

  findUser(email: string | undefined): string | undefined {
    return email === undefined ? undefined : this.users.peek(emailKey(email));
  }
}

const KNOWN_FOR_MS = 30 * 86_400_000;

/** A stranger must not lock out an account's owner, so addresses of recent logins pass. */
@Injectable()
export class KnownAddresses {
  constructor(
    private readonly users: UsersRepository,
    private readonly events: EventsRepository,
  ) {}

  /** Asks the database the same for every email, whether or not it has an account. IPv6 counts by network. */
  async include(email: string, address: string): Promise<boolean> {
    return (await this.keysOf(email)).has(clientKey(address));
  }

  async keysOf(email: string): Promise<ReadonlySet<string>> {
    const userId = (await this.users.findIdByEmail(email)) ?? '';
    const known = await this.events.findSignInAddresses(userId, Date.now() - KNOWN_FOR_MS);
    return new Set(known.map((one) => clientKey(one)));
  }
}
