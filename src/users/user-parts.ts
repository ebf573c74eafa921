import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/transactions/transaction.js';
import { NamedParts } from './named-parts.js';
import type { User } from './user.entity.js';
import type { UserProfile } from './users.repository.js';
import type { UserTies } from './user-ties.js';

interface Tables {
  /** names of the tables that the part answers for */
  readonly tables: readonly string[];
}

export type DeletedUser = Pick<User, 'id' | 'email' | 'emailVerifiedAt'>;

/** Rows that no longer name the user after a deletion. */
export interface UserRows extends Tables {
  /** Does slow work before the transaction, as long as the user stays able to use the account if it is refused. */
  prepareDeletion?(userId: string): Promise<void>;
  /** Deletes by statements of its own, because Galera does not certify the rows that a cascade deletes. */
  delete(transaction: Transaction, user: DeletedUser): Promise<void>;
}

/** Columns that repeat the email of the user. */
export interface EmailCopies extends Tables {
  update(transaction: Transaction, userId: string, email: string): Promise<void>;
}

/** A list in the document that `accounts export` writes: no secret, and nothing about others. */
export interface ExportedRows extends Tables {
  of(user: UserProfile): AsyncIterable<object>;
}

/** A deletion takes these before it records its events. Invitations come before emails, as where somebody is invited. */
const ROWS = ['invitations', 'email codes', 'mails', 'idempotency keys', 'second factor'] as const;

/** These go last, because on Galera a refresh that another node commits from then on undoes the whole deletion. */
const CONTENDED_ROWS = ['sessions'] as const;

const EMAIL_COPIES = ['members'] as const;

/** the order of the document */
const EXPORTED = ['organizations', 'secondFactor', 'sessions', 'events', 'mails', 'invitations'] as const;

/** Rooms register here what they keep of users. */
@Injectable()
export class UserParts {
  readonly ties = new NamedParts<'organizations', UserTies>(['organizations']);
  readonly rows = new NamedParts<(typeof ROWS)[number], UserRows>(ROWS);
  readonly contendedRows = new NamedParts<(typeof CONTENDED_ROWS)[number], UserRows>(CONTENDED_ROWS);
  readonly emailCopies = new NamedParts<(typeof EMAIL_COPIES)[number], EmailCopies>(EMAIL_COPIES);
  readonly exported = new NamedParts<(typeof EXPORTED)[number], ExportedRows>(EXPORTED);

  /** @throws if no room has registered one of the names */
  requireAll(): void {
    for (const parts of [this.ties, this.rows, this.contendedRows, this.emailCopies, this.exported]) {
      parts.inOrder();
    }
  }
}
