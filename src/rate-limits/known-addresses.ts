import { Injectable } from '@nestjs/common';
import { EventsRepository } from '../events/events.repository.js';
import { UsersRepository } from '../users/users.repository.js';
import { clientKey } from './client-key.js';

const KNOWN_FOR_MS = 30 * 86_400_000;

/** Whence somebody has logged in to an account: such an address is let through, or a stranger could lock its owner out. */
@Injectable()
export class KnownAddresses {
  constructor(
    private readonly users: UsersRepository,
    private readonly events: EventsRepository,
  ) {}

  /**
   * Asks the database the same for every e-mail, whether or not it has an account. IPv6 counts by network.
   *
   * @param email canonical
   */
  async include(email: string, address: string): Promise<boolean> {
    return (await this.keysOf(email)).has(clientKey(address));
  }

  /**
   * As `clientKey` makes them.
   * @param email canonical
   */
  async keysOf(email: string): Promise<ReadonlySet<string>> {
    const userId = (await this.users.findIdByEmail(email)) ?? '';
    const known = await this.events.findSignInAddresses(userId, Date.now() - KNOWN_FOR_MS);
    return new Set(known.map((one) => clientKey(one)));
  }
}
