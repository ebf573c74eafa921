import { Injectable } from '@nestjs/common';
import { NamedParts } from '../../users/named-parts.js';
import { SEALING_PURPOSES, type SealingPurpose } from './derived-keys.js';

export interface SealedRow {
  /** the key of the row, by which pages go on and which the sealing authenticates */
  rowKey: string;
  sealed: string;
}

/** A column in which SealedSecrets keeps secrets. */
export interface SealedRows {
  /** Returns a page in the order of the keys, empty after the last one. */
  findSealed(afterKey: string): Promise<SealedRow[]>;
  /** Does nothing where the row has changed since. */
  replaceSealed(row: SealedRow, sealed: string): Promise<void>;
}

/** Rooms register here what they keep sealed: what is not here, the pruning of keys would lose. */
@Injectable()
export class SealedParts {
  readonly rows = new NamedParts<SealingPurpose, SealedRows>(SEALING_PURPOSES);

  /** @throws if no room has registered the rows of a purpose */
  async *all(): AsyncGenerator<SealedRow & { purpose: SealingPurpose; rows: SealedRows }> {
    for (const purpose of SEALING_PURPOSES) {
      const rows = this.rows.of(purpose);
      for (let after = ''; ;) {
        const page = await rows.findSealed(after);
        if (page.length === 0) break;
        for (const row of page) yield { ...row, purpose, rows };
        after = page.at(-1)!.rowKey;
      }
    }
  }
}
