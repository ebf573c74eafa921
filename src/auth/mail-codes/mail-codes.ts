import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/transaction.js';
import { DerivedMacs } from '../tokens/derived-macs.js';
import { KeyRing } from '../tokens/key-ring.js';
import type { MailCode, MailCodePurpose } from './mail-code.entity.js';
import { isSameCode, mailCodeOf, typedCode } from './mail-code-text.js';
import { type MailCodeKey, MailCodesRepository } from './mail-codes.repository.js';

export const MAIL_CODE_TTL_MS = 15 * 60_000;
const MAX_TRIES = 50;

/** What a code is derived from: a row here, or in a room above. */
export interface DerivedCode {
  id: string;
  purpose: MailCodePurpose;
  codeNumber: number;
}

/** Codes to type: they are derived from their row and the signing keys, when they are mailed and when they are checked. */
@Injectable()
export class MailCodes {
  private readonly macs: DerivedMacs;

  constructor(
    private readonly codes: MailCodesRepository,
    keys: KeyRing,
  ) {
    this.macs = new DerivedMacs(keys, 'mail codes');
  }

  /** Voids the code of that purpose and subject before it. */
  async issue(
    transaction: Transaction,
    code: MailCodeKey & {
      email: string;
      authEpoch?: number;
      handedOut?: boolean;
      /** epoch milliseconds; by default when its time is over */
      expiresAt?: number;
    },
  ): Promise<MailCode> {
    const { purpose, subject, email, authEpoch = null, handedOut = false } = code;
    const expiresAt = code.expiresAt ?? Date.now() + MAIL_CODE_TTL_MS;
    await this.codes.renew(transaction, {
      purpose,
      subject,
      email,
      authEpoch,
      handedOut: handedOut ? 1 : 0,
      expiresAt,
    });
    const [issued] = await this.codes.find(transaction, [purpose], subject);
    return issued!;
  }

  /** Makes what is written later the same, whether or not a code is issued. */
  keepPlace(transaction: Transaction, key: MailCodeKey): Promise<void> {
    return this.codes.keep(transaction, key);
  }

  isCurrent({ id, codeNumber }: DerivedCode): Promise<boolean> {
    return this.codes.isCurrent(id, codeNumber);
  }

  textOf(code: DerivedCode): string {
    return mailCodeOf(this.macs.make(messageOf(code)));
  }

  /**
   * The one that was typed, if it is still good; it is not used up. Counts a try, which the caller has to commit.
   * The same work is done whether or not there is a code.
   */
  async check(
    transaction: Transaction,
    purposes: readonly [MailCodePurpose, MailCodePurpose?],
    subject: string,
    typed: string,
  ): Promise<MailCode | undefined> {
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

  /** False when it was used meanwhile. */
  use(transaction: Transaction, code: MailCode): Promise<boolean> {
    return this.codes.use(transaction, code);
  }

  voidOne(transaction: Transaction, key: MailCodeKey): Promise<void> {
    return this.codes.void(transaction, key);
  }

  /**
   * Under any key of the ring: a code outlives a rotation.
   * @param typed by `typedCode`
   */
  isDerived(row: DerivedCode, typed: string): boolean {
    const accepted = this.macs.accepted(messageOf(row)).map(mailCodeOf);
    return accepted.filter((code) => isSameCode(code, typed)).length > 0;
  }
}

const NOBODY: MailCode = {
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
};

function messageOf({ purpose, id, codeNumber }: DerivedCode): string {
  return `${purpose}\n${id}\n${codeNumber}`;
}
