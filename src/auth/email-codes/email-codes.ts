import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/transactions/transactions.js';
import { DerivedMacs } from '../tokens/derived-keys.js';
import { KeyRing } from '../tokens/signing-keys.js';
import { EmailCode, type EmailCodePurposes, EmailCodesRepository } from './email-codes.repository.js';

/** Crockford's base32 has no I, L, O or U, which are easily mistaken. */
export const CROCKFORD_ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const MAX_LENGTH = 64;
const TYPED = /^[\da-z -]*$/i;

/** Ignores case, spaces, hyphens and mistaken letters; returns undefined for text with anything else. */
export function typedText(text: string): string | undefined {
  if (text.length > MAX_LENGTH || !TYPED.test(text)) return undefined;
  return text.toUpperCase().replaceAll(/[ -]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
}

const LENGTH = 10;
const BITS = 5;
const HALF = 5;
const CODE = new RegExp(`^[${CROCKFORD_ALPHABET}]{${LENGTH}}$`);

export function emailCodeOf(mac: Buffer): string {
  const bits = mac.readBigUInt64BE();
  return Array.from({ length: LENGTH }, (_, index) => {
    const shift = 64n - BigInt(BITS * (index + 1));
    return CROCKFORD_ALPHABET[Number((bits >> shift) & 31n)];
  }).join('');
}

export function typedCode(text: string): string | undefined {
  const code = typedText(text);
  return code !== undefined && CODE.test(code) ? code : undefined;
}

export function isSameCode(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

export type DerivedCode = Pick<EmailCode, 'id' | 'purpose' | 'codeNumber'>;

/** More than strangers can use up while a code lives, although each client has ten in 15 minutes. */
export const MAX_CODE_TRIES = 10_000_000;

const NOBODY: DerivedCode = {
  id: '00000000-0000-7000-8000-000000000000',
  purpose: 'password_reset',
  codeNumber: 0,
};

function messageOf({ purpose, id, codeNumber }: DerivedCode): string {
  return `${purpose}\n${id}\n${codeNumber}`;
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

  textOf(code: DerivedCode): string {
    const text = emailCodeOf(this.macs.make(messageOf(code)));
    return `${text.slice(0, HALF)}-${text.slice(HALF)}`;
  }

  /** Consumes no code, and takes the same time if there is none. The caller must commit the counted try. */
  async check(
    tx: Transaction,
    purposes: EmailCodePurposes,
    subject: string,
    typed: string,
  ): Promise<EmailCode | undefined> {
    const code = typedCode(typed);
    if (code === undefined) return undefined;
    await this.codes.countTry(tx, purposes, subject);
    const found = await this.codes.find(tx, purposes, subject);
    if (found.length === 0) this.isDerived(NOBODY, code);
    const now = Date.now();
    return found
      .filter((row) => this.isDerived(row, code))
      .find((row) => row.codeNumber > 0 && row.tries <= MAX_CODE_TRIES && row.expiresAt > now);
  }

  /** Accepts every key of the ring, because a code outlives a rotation. `typed` comes from `typedCode`. */
  isDerived(row: DerivedCode, typed: string): boolean {
    const accepted = this.macs.accepted(messageOf(row)).map(emailCodeOf);
    return accepted.filter((code) => isSameCode(code, typed)).length > 0;
  }
}
