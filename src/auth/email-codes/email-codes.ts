import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/transactions/transactions.js';
import { DerivedMacs } from '../tokens/derived-keys.js';
import { KeyRing } from '../tokens/signing-keys.js';
import {
  type EmailCode,
  type EmailCodeKey,
  type EmailCodePurpose,
  EmailCodesRepository,
} from './email-codes.repository.js';
import { isSameCode, emailCodeOf, typedCode } from './email-code-text.js';

export const EMAIL_CODE_TTL_MS = 15 * 60_000;
const MAX_TRIES = 50;

export interface DerivedCode {
  id: string;
  purpose: EmailCodePurpose;
  codeNumber: number;
}

@Injectable()
export class EmailCodes {
  private readonly macs: DerivedMacs;

  constructor(
    private readonly codes: EmailCodesRepository,
    keys: KeyRing,
  ) {
    this.macs = new DerivedMacs(keys, 'email codes');
  }

  async issue(
    transaction: Transaction,
    code: EmailCodeKey & {
      email: string;
      authEpoch?: number;
      /** of a code that an operator hands out */
      userId?: string;
      expiresAt?: number;
    },
  ): Promise<EmailCode> {
    const { purpose, subject, email, authEpoch = null, userId = null } = code;
    const expiresAt = code.expiresAt ?? Date.now() + EMAIL_CODE_TTL_MS;
    await this.codes.renew(transaction, {
      purpose,
      subject,
      email,
      authEpoch,
      handedOut: userId === null ? 0 : 1,
      userId,
      expiresAt,
    });
    const [issued] = await this.codes.find(transaction, [purpose], subject);
    return issued!;
  }

  /** Makes what is written later the same, whether or not a code is issued. */
  keepPlace(transaction: Transaction, key: EmailCodeKey): Promise<void> {
    return this.codes.keep(transaction, key);
  }

  isCurrent({ id, codeNumber }: DerivedCode): Promise<boolean> {
    return this.codes.isCurrent(id, codeNumber);
  }

  textOf(code: DerivedCode): string {
    return emailCodeOf(this.macs.make(messageOf(code)));
  }

  /** Consumes nothing, and does the same work whether or not there is a code. The caller must commit the counted try. */
  async check(
    transaction: Transaction,
    purposes: readonly [EmailCodePurpose, EmailCodePurpose?],
    subject: string,
    typed: string,
  ): Promise<EmailCode | undefined> {
    const code = typedCode(typed);
    if (code === undefined) return undefined;
    await this.codes.countTry(
      transaction,
      purposes.filter((one) => one !== undefined),
      subject,
    );
    const found = await this.codes.find(transaction, purposes, subject);
    const now = Date.now();
    const candidates = found.length > 0 ? found : [NOBODY];
    return candidates
      .filter((row) => this.isDerived(row, code))
      .find((row) => row.codeNumber > 0 && row.tries <= MAX_TRIES && row.expiresAt > now);
  }

  use(transaction: Transaction, code: EmailCode): Promise<boolean> {
    return this.codes.use(transaction, code);
  }

  voidResets(transaction: Transaction, email: string): Promise<void> {
    return this.codes.voidResets(transaction, email);
  }

  voidOne(transaction: Transaction, key: EmailCodeKey): Promise<void> {
    return this.codes.void(transaction, key);
  }

  /** Accepts every key of the ring, since a code outlives a rotation. `typed` comes from `typedCode`. */
  isDerived(row: DerivedCode, typed: string): boolean {
    const accepted = this.macs.accepted(messageOf(row)).map(emailCodeOf);
    return accepted.filter((code) => isSameCode(code, typed)).length > 0;
  }
}

const NOBODY: EmailCode = {
  id: '00000000-0000-7000-8000-000000000000',
  purpose: 'password_reset',
  subject: '',
  email: '',
  authEpoch: null,
  codeNumber: 0,
  tries: 0,
  handedOut: 0,
  expiresAt: 0,
  purgeAt: 0,
  userId: null,
};

function messageOf({ purpose, id, codeNumber }: DerivedCode): string {
  return `${purpose}\n${id}\n${codeNumber}`;
}
