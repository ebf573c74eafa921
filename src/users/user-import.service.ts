import { Injectable } from '@nestjs/common';
import { type Actor, principalOf } from '../access/principal.js';
import { Transactions } from '../database/transactions/transactions.js';
import { LostConflictError } from '../database/transactions/database-errors.js';
import { EventsRepository } from '../events/events.repository.js';
import type { NewEvent } from '../events/event-types.js';
import { newEntityId } from '../identifiers/entity-id.js';
import type { Profile } from './profile.js';
import {
  type ImportedUser,
  type PresentUser,
  TakenMeanwhileError,
  UsersRepository,
} from './users.repository.js';

/** The email, the id and the profile are normalized, and a login can verify the hash. */
export interface ForeignUser {
  email: string;
  passwordHash: string;
  isEmailVerified: boolean;
  id: string | undefined;
  profile: Profile;
}

export type ImportOutcome = 'imported' | 'present' | 'email_taken' | 'id_taken' | 'id_deleted';

const MAX_ATTEMPTS = 5;

@Injectable()
export class UserImportService {
  constructor(
    private readonly users: UsersRepository,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
  ) {}

  async importAll(foreign: readonly ForeignUser[], actor: Actor): Promise<ImportOutcome[]> {
    for (let attempt = 1; ; attempt += 1) {
      const { outcomes, users } = await this.decide(foreign);
      try {
        if (users.length > 0) await this.insert(users, actor);
        return outcomes;
      } catch (error) {
        if (!(error instanceof TakenMeanwhileError)) throw error;
        if (attempt === MAX_ATTEMPTS) throw new LostConflictError(error);
      }
    }
  }

  private async decide(
    foreign: readonly ForeignUser[],
  ): Promise<{ outcomes: ImportOutcome[]; users: ImportedUser[] }> {
    const ids = foreign.flatMap(({ id }) => id ?? []);
    const emails = foreign.map(({ email }) => email);
    const present: PresentUser[] = await this.users.findPresent(emails, ids);
    const known = {
      byEmail: new Map(present.map((user) => [user.email, user])),
      ids: new Set(present.map(({ id }) => id)),
      deleted: new Set(await this.events.findDeleted(ids)),
    };
    const users: ImportedUser[] = [];
    const outcomes = foreign.map((user) => {
      const outcome = outcomeOf(user, known);
      if (outcome !== 'imported') return outcome;
      const imported = userOf(user);
      known.byEmail.set(imported.email, imported);
      known.ids.add(imported.id);
      users.push(imported);
      return outcome;
    });
    return { outcomes, users };
  }

  private insert(users: readonly ImportedUser[], actor: Actor): Promise<void> {
    return this.transactions.run({ principal: principalOf(actor) }, async (transaction) => {
      await this.users.insertAll(transaction, users);
      const about = { type: 'account.registered', actor, userRevision: 1, data: { via: 'import' } } as const;
      const events = users.map(({ id: userId }): NewEvent => ({ ...about, userId }));
      await this.events.record(transaction, ...events);
    });
  }
}

interface KnownUsers {
  byEmail: ReadonlyMap<string, PresentUser>;
  ids: ReadonlySet<string>;
  deleted: ReadonlySet<string>;
}

/** Two users are the same if their emails and ids are equal; without an id, the hashes. */
function outcomeOf({ id, email, passwordHash }: ForeignUser, known: KnownUsers): ImportOutcome {
  const namesake = known.byEmail.get(email);
  if (namesake) {
    const isSame = id === undefined ? namesake.passwordHash === passwordHash : namesake.id === id;
    return isSame ? 'present' : 'email_taken';
  }
  if (id === undefined) return 'imported';
  if (known.ids.has(id)) return 'id_taken';
  // A deleted user must not come back, and another user must not get the audit log of this id.
  return known.deleted.has(id) ? 'id_deleted' : 'imported';
}

function userOf({ id = newEntityId(), isEmailVerified, profile, ...user }: ForeignUser): ImportedUser {
  const createdAt = Date.now();
  return { ...user, ...profile, id, createdAt, emailVerifiedAt: isEmailVerified ? createdAt : null };
}
