import { randomInt } from 'node:crypto';

const ALPHABET = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Like `FailedLoginCost`: after the first bcrypt hash it sees, every failed login costs the strongest one's rounds. */
export class FailedBcryptCost {
  private strongest: number | undefined;

  observe(cost: number | undefined): void {
    if (cost !== undefined && cost > (this.strongest ?? 0)) this.strongest = cost;
  }

  /** Rounds are powers of two: those of cost 4 are followed by 4, 5, … to make up 2^n. */
  missing(verified: number | undefined): string[] {
    if (this.strongest === undefined) return [];
    if (verified === undefined) return [createDummyHash(this.strongest)];
    const costs = Array.from({ length: this.strongest - verified }, (_, index) => verified + index);
    return costs.map(createDummyHash);
  }
}

function createDummyHash(cost: number): string {
  const random = (length: number): string =>
    Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return `$2b$${String(cost).padStart(2, '0')}$${random(21)}.${random(30)}.`;
}
