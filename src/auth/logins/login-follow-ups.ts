import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { isForeignKeyViolation } from '../../database/transactions/database-errors.js';
import { type Transaction, Transactions } from '../../database/transactions/transactions.js';
import { Mails } from '../../mail/mails.js';
import { harmlessUpTo, type SignInDetails } from '../../mail/template.js';
import { UsersRepository } from '../../users/users.repository.js';
import { BreachedPasswords } from '../passwords/breached-passwords.js';
import {
  KnownPlacesRepository,
  type LoginUser,
  PLACE_KNOWN_FOR_MS,
  placeOf,
  systemOf,
} from '../sessions/known-places.repository.js';
import type { Login } from '../sessions/session-opening.service.js';

const DAY_MS = 86_400_000;
const CHECK_EVERY_MS = 30 * DAY_MS;
const MAX_SHOWN_AGENT = 60;
const MAX_SHOWN_DEVICE = 60;

type PlacedUser = Pick<LoginUser, 'id' | 'email' | 'placeSeenAt'>;

/** What follows the answer to a login: no login waits for it, or fails because of it. */
@Injectable()
export class LoginFollowUps implements OnApplicationShutdown {
  private readonly logger = new Logger('Login');
  private readonly running = new Set<Promise<void>>();

  constructor(
    private readonly places: KnownPlacesRepository,
    private readonly breached: BreachedPasswords,
    private readonly users: UsersRepository,
    private readonly mails: Mails,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.running);
  }

  /** The first place of a user is not new: there is nothing to compare it with. */
  isFromNewPlace({ hasPlaces, placeSeenAt }: LoginUser): boolean {
    const isKnown = (placeSeenAt ?? 0) >= Date.now() - PLACE_KNOWN_FOR_MS;
    return this.env.newSignInNotice && hasPlaces === 1 && !isKnown;
  }

  async keepFirstPlace(tx: Transaction, userId: string, { origin }: Pick<Login, 'origin'>): Promise<void> {
    if (this.env.newSignInNotice) await this.places.insert(tx, userId, placeOf(origin), Date.now());
  }

  /** Call it after COMMIT. A failure delays the notice until the next login. */
  keepPlace(user: PlacedUser, login: Login): void {
    if (!this.env.newSignInNotice || (user.placeSeenAt ?? 0) > Date.now() - DAY_MS) return;
    this.runLater(user, () => this.notePlace(user, login));
  }

  checkPassword(user: LoginUser, password: string): void {
    if (!this.env.pwnedPasswords || (user.passwordCheckedAt ?? 0) > Date.now() - CHECK_EVERY_MS) return;
    this.runLater(user, () => this.noteBreach(user, password));
  }

  private runLater({ id: userId }: PlacedUser, work: () => Promise<void>): void {
    const running = yieldToEventLoop()
      .then(work)
      .catch((error: unknown) => {
        // The user may have been deleted.
        if (isForeignKeyViolation(error)) return;
        this.logger.warn({ msg: 'what follows a login failed', userId, err: error });
      })
      .finally(() => this.running.delete(running));
    this.running.add(running);
  }

  /** The place and the email commit together, so that concurrent logins from one place send one email. */
  private async notePlace(user: PlacedUser, { origin, deviceName, newDevice }: Login): Promise<void> {
    const { id, email, placeSeenAt } = user;
    const place = placeOf(origin);
    const program = place.agent === 'unknown' ? undefined : place.agent;
    const system = program && systemOf(origin);
    const details: SignInDetails = {
      ip: origin.address,
      user_agent: harmlessUpTo(MAX_SHOWN_AGENT, program),
      ...(system !== undefined && { system }),
      device: harmlessUpTo(MAX_SHOWN_DEVICE, deviceName),
    };
    await this.transactions.run({ principal: id }, async (tx) => {
      const now = Date.now();
      const isFirst =
        placeSeenAt === null
          ? await this.places.insert(tx, id, place, now)
          : await this.places.update(tx, id, place, { from: placeSeenAt, to: now });
      if (!isFirst || !newDevice) return;
      const notice = { kind: 'new_sign_in', recipient: email, senderId: id } as const;
      await this.mails.notify(tx, { ...notice, details: JSON.stringify(details) });
    });
    if (placeSeenAt === null) await this.places.deleteSurplus(id);
  }

  /** Writes the time first, so that concurrent logins check once. */
  private async noteBreach({ id, email, passwordCheckedAt }: LoginUser, password: string): Promise<void> {
    const now = Date.now();
    if (!(await this.users.replacePasswordCheckedAt(id, passwordCheckedAt, now))) return;
    const isBreached = await this.breached.isBreached(password, id);
    if (isBreached === undefined) await this.users.replacePasswordCheckedAt(id, now, passwordCheckedAt);
    if (!isBreached) return;
    const notice = { kind: 'password_breached', recipient: email, senderId: id } as const;
    await this.transactions.run({ principal: id }, (tx) => this.mails.notify(tx, notice));
  }
}
