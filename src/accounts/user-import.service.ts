import { Injectable } from '@nestjs/common';
import { type Actor, principalOf } from '../access/principal.js';
import { unknownPasswordHash } from '../auth/passwords/hash-engines.js';
import { SecondFactorsRepository } from '../auth/second-factor/second-factors.repository.js';
import type { EncryptedSecrets } from '../auth/tokens/derived-keys.js';
import { type Argon2Cost, Env } from '../config/env.js';
import { Transactions } from '../database/transactions/transactions.js';
import { LostConflictError } from '../database/transactions/database-errors.js';
import { EventsRepository } from '../events/events.repository.js';
import type { NewEvent } from '../events/event-types.js';
import { newEntityId } from '../identifiers/entity-id.js';
import { NO_PASSWORD_HASH } from '../users/user.entity.js';
import type { Profile } from '../users/profile.js';
import {
  type ImportedUser,
  type PresentUser,
  TakenMeanwhileError,
  UsersRepository,
} from '../users/users.repository.js';

/** The email, the id and the profile are normalized, and a login can verify the hash. */
export interface ForeignUser {
  email: string;
  passwordHash: string;
  isEmailVerified: boolean;
  isDisabled: boolean;
  id: string | undefined;
  profile: Profile;
  totpSecret: Buffer | undefined;
}

type CheckedUser = ImportedUser & Pick<ForeignUser, 'totpSecret'>;

export type ImportOutcome = 'imported' | 'present' | 'email_taken' | 'id_taken' | 'id_deleted';

const MAX_ATTEMPTS = 5;

@Injectable()
export class UserImportService {
  constructor(
    private readonly users: UsersRepository,
    private readonly factors: SecondFactorsRepository,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /** @param secrets required if a user has a TOTP secret */
  async importAll(
    foreign: readonly ForeignUser[],
    actor: Actor,
    secrets?: EncryptedSecrets,
  ): Promise<ImportOutcome[]> {
    for (let attempt = 1; ; attempt += 1) {
      const { outcomes, users } = await this.check(foreign);
      try {
        if (users.length > 0) await this.insert(users, actor, secrets);
        return outcomes;
      } catch (error) {
        if (!(error instanceof TakenMeanwhileError)) throw error;
        if (attempt === MAX_ATTEMPTS) throw new LostConflictError(error);
      }
    }
  }

  /** Imports nothing. `earlier` collects the users of a file, as if they were imported; it begins empty. */
  async check(
    foreign: readonly ForeignUser[],
    earlier: EarlierUsers = { byEmail: new Map(), ids: new Set() },
  ): Promise<{ outcomes: ImportOutcome[]; users: CheckedUser[] }> {
    const named = foreign.flatMap(({ id }) => id ?? []);
    const emails = foreign.map(({ email }) => email);
    const add = ({ id, email, passwordHash }: PresentUser): void => {
      earlier.byEmail.set(email, { id, email, passwordHash });
      earlier.ids.add(id);
    };
    (await this.users.findPresent(emails, named)).forEach(add);
    const deleted = new Set(await this.events.findDeleted(named));
    const users: CheckedUser[] = [];
    const outcomes = foreign.map((user) => {
      const outcome = outcomeOf(user, earlier, deleted, this.env.argon2);
      if (outcome !== 'imported') return outcome;
      const imported = userOf(user);
      // Another line may name the user again.
      add(imported);
      users.push(imported);
      return outcome;
    });
    return { outcomes, users };
  }

  private insert(users: readonly CheckedUser[], actor: Actor, secrets?: EncryptedSecrets): Promise<void> {
    return this.transactions.run({ principal: principalOf(actor) }, async (tx) => {
      await this.users.insertAll(tx, users);
      const factors = users.flatMap(({ id: userId, totpSecret, secondFactorAt: enabledAt }) =>
        totpSecret ? { userId, secret: secrets!.encrypt(totpSecret, userId), lastStep: 0, enabledAt } : [],
      );
      if (factors.length > 0) await this.factors.insertEnabled(tx, factors);
      const registered = users.map(({ id: userId }): NewEvent => {
        return { type: 'account.registered', userId, actor, userRevision: 1, data: { via: 'import' } };
      });
      const enabled = factors.map(({ userId }): NewEvent => {
        return { type: 'account.second_factor_enabled', userId, actor, userRevision: 2 };
      });
      const disabled = users.flatMap(({ id: userId, disabledAt, revision }): NewEvent[] =>
        disabledAt === null ? [] : [{ type: 'account.disabled', userId, actor, userRevision: revision }],
      );
      await this.events.record(tx, ...registered, ...enabled, ...disabled);
    });
  }
}

export interface EarlierUsers {
  byEmail: Map<string, PresentUser>;
  ids: Set<string>;
}

/** Two users are the same if their emails and ids are equal; without an id, the hashes. */
function outcomeOf(
  user: ForeignUser,
  earlier: EarlierUsers,
  deleted: ReadonlySet<string>,
  cost: Argon2Cost,
): ImportOutcome {
  const { id, email } = user;
  const namesake = earlier.byEmail.get(email);
  if (namesake) {
    const isSame = id === undefined ? hasHashOf(user, namesake, cost) : namesake.id === id;
    return isSame ? 'present' : 'email_taken';
  }
  if (id === undefined) return 'imported';
  if (earlier.ids.has(id)) return 'id_taken';
  // A deleted user must not come back, and another user must not get the audit log of this id.
  return deleted.has(id) ? 'id_deleted' : 'imported';
}

/** 0.3 stored a made-up hash for a user without a password, the same in every run. */
function hasHashOf({ email, passwordHash }: ForeignUser, namesake: PresentUser, cost: Argon2Cost): boolean {
  if (namesake.passwordHash === passwordHash) return true;
  const madeUp = unknownPasswordHash(cost, `no password: ${email}`);
  return passwordHash === NO_PASSWORD_HASH && namesake.passwordHash === madeUp;
}

/** Each event has a revision of its own. */
function userOf({ isEmailVerified, isDisabled, profile, ...user }: ForeignUser): CheckedUser {
  const [createdAt, id] = [Date.now(), user.id ?? newEntityId()];
  const emailVerifiedAt = isEmailVerified ? createdAt : null;
  const secondFactorAt = user.totpSecret ? createdAt : null;
  const revision = 1 + Number(secondFactorAt !== null) + Number(isDisabled);
  const disabled = isDisabled
    ? { disabledAt: createdAt, disabledEmail: user.email }
    : { disabledAt: null, disabledEmail: null };
  return { ...user, ...profile, id, createdAt, emailVerifiedAt, secondFactorAt, revision, ...disabled };
}
