export const RECOVERY_CODES = 10;
const MAX_WRONG_CODES = 10;

export type AttemptScope = 'login' | 'signed-in';

/** A code as somebody shows it: the next of the app, six wrong digits, or one of the recovery codes. */
export type ShownCode = 'app' | 'wrong digits' | { recovery: number };

interface ModelFactor {
  isPending: boolean;
  isEnabled: boolean;
  /** rises when the factor is enabled or removed */
  version: number;
  wrong: Record<AttemptScope, number>;
}

interface ModelRecoveryCode {
  user: string;
  isUsable: boolean;
}

interface ModelChallenge {
  user: string;
  version: number;
}

function noFactor(version: number): ModelFactor {
  return { isPending: false, isEnabled: false, version, wrong: { login: 0, 'signed-in': 0 } };
}

/** Second factors as the rules have them; recovery codes and challenges are named by the order of their making. */
export class ModelSecondFactors {
  readonly recoveryCodes: ModelRecoveryCode[] = [];
  readonly challenges: ModelChallenge[] = [];
  private readonly factors = new Map<string, ModelFactor>();

  of(user: string): ModelFactor {
    const factor = this.factors.get(user) ?? noFactor(0);
    this.factors.set(user, factor);
    return factor;
  }

  challenge(user: string): void {
    this.challenges.push({ user, version: this.of(user).version });
  }

  /** Returns the user if the challenge is still good. */
  answered(index: number): string | undefined {
    const challenge = this.challenges[index];
    if (!challenge) throw new Error(`the model has no challenge ${index}`);
    const { user, version } = challenge;
    return this.of(user).version === version ? user : undefined;
  }

  enable(user: string): void {
    const factor = this.of(user);
    Object.assign(factor, { isPending: false, isEnabled: true, version: factor.version + 1 });
    this.renew(user);
  }

  remove(user: string): void {
    this.factors.set(user, noFactor(this.of(user).version + 1));
    this.voidRecoveryCodes(user);
  }

  /** Ten new ones; the previous ones are void. */
  renew(user: string): void {
    this.voidRecoveryCodes(user);
    for (let made = 0; made < RECOVERY_CODES; made += 1) this.recoveryCodes.push({ user, isUsable: true });
  }

  /** Counts or uses the code. A recovery code is always taken; digits are not after too many wrong ones. */
  show(user: string, code: ShownCode, scope: AttemptScope): 'right' | 'wrong' | 'too many' {
    const { wrong } = this.of(user);
    if (typeof code === 'object') {
      const found = this.recoveryCodes[code.recovery];
      if (found?.user !== user || !found.isUsable) return 'wrong';
      found.isUsable = false;
    } else {
      if (wrong[scope] >= MAX_WRONG_CODES) return 'too many';
      if (code === 'wrong digits') {
        wrong[scope] += 1;
        return 'wrong';
      }
    }
    wrong[scope] = 0;
    return 'right';
  }

  private voidRecoveryCodes(user: string): void {
    for (const code of this.recoveryCodes) if (code.user === user) code.isUsable = false;
  }
}
