import { Injectable } from '@nestjs/common';
import { EventsRepository } from '../events/events.repository.js';
import { UsersRepository } from '../users/users.repository.js';
import { clientKey } from './client-key.js';

const KNOWN_FOR_MS = 30 * 86_400_000;

/** Knows the addresses of recent logins, which are let through, or a stranger could lock an account's owner out. */
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

  /** Takes a normalized email, and returns keys as `clientKey` makes them. */
  async keysOf(email: string): Promise<ReadonlySet<string>> {
    const userId = (await this.users.findIdByEmail(email)) ?? '';
    const known = await this.events.findSignInAddresses(userId, Date.now() - KNOWN_FOR_MS);
    return new Set(known.map((one) => clientKey(one)));
  }
}
