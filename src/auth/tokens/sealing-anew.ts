import { Injectable } from '@nestjs/common';
import { SEALING_PURPOSES, type SealingPurpose } from './derived-keys.js';
import { KeyRing } from './key-ring.js';
import { SealedParts } from './sealed-parts.js';
import { SealedSecrets, sealedBy } from './sealed-secrets.js';
import type { SigningKey, SigningKeys } from './signing-keys.js';

/** An instance reads the file within seconds of its change, and until then may seal with a key that no longer signs. */
export const HANDOVER_MS = 10_000;

/** The secrets stay readable without any of the keys: whatever interrupts it, each is sealed by a key of the file. */
@Injectable()
export class SealingAnew {
  constructor(private readonly parts: SealedParts) {}

  /**
   * Re-encrypts with the key that signs what one of `leaving` encrypted, so that those can be removed.
   * @param handover waits HANDOVER_MS; only called where there is something sealed
   * @returns how many secrets `leaving` can still open
   */
  async relieve(
    keys: SigningKeys,
    leaving: readonly SigningKey[],
    handover: () => Promise<void>,
  ): Promise<number> {
    const pass = new Pass(this.parts, keys, leaving);
    const { examined } = await pass.run();
    if (examined === 0) return 0;
    await handover();
    await pass.run();
    return (await pass.run({ change: false })).found;
  }
}

class Pass {
  private readonly secrets: Map<SealingPurpose, SealedSecrets>;
  private readonly leaving: ReadonlySet<string>;

  constructor(
    private readonly parts: SealedParts,
    keys: SigningKeys,
    leaving: readonly SigningKey[],
  ) {
    const ring = new KeyRing(keys);
    this.secrets = new Map(SEALING_PURPOSES.map((purpose) => [purpose, new SealedSecrets(ring, purpose)]));
    this.leaving = new Set(leaving.map(({ thumbprint }) => thumbprint));
  }

  /** @returns what it looked at, and how many of those the keys had sealed */
  async run({ change } = { change: true }): Promise<{ examined: number; found: number }> {
    let [examined, found] = [0, 0];
    for await (const { purpose, rows, rowKey, sealed } of this.parts.all()) {
      examined += 1;
      if (!this.leaving.has(sealedBy(sealed))) continue;
      const secrets = this.secrets.get(purpose)!;
      const secret = secrets.open(sealed, rowKey);
      // A damaged secret is lost with its key or without; the doctor names it.
      if (secret === undefined) continue;
      found += 1;
      if (change) await rows.replaceSealed({ rowKey, sealed }, secrets.seal(secret, rowKey));
    }
    return { examined, found };
  }
}
