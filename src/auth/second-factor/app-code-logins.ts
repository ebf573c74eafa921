import { Injectable } from '@nestjs/common';
import { BatchedQueries } from '../../database/batched-queries.js';
import { isForeignKeyViolation } from '../../database/database-errors.js';
import type { Transaction } from '../../database/transaction.js';
import { Transactions } from '../../database/transactions.js';
import { type Login, SessionOpening } from '../sessions/session-opening.service.js';
import { AppCodes } from './app-codes.js';
import { ChallengedLogins } from './challenged-logins.js';
import { type FailedCount, FailedAttemptsRepository, isFull } from './failed-attempts.repository.js';
import { isChallengeOf, type LoginChallenge } from './login-challenges.js';
import type { SecondStepOutcome } from './second-step-outcome.js';
import { type FactorOfUser, SecondFactorsRepository, type UsedStep } from './second-factors.repository.js';

export interface AppCodeLogin {
  challenge: LoginChallenge;
  digits: string;
  login: Omit<Login, 'user'>;
}

interface Attempt extends AppCodeLogin {
  user: FactorOfUser;
  failed: FailedCount;
}

interface ComparedAttempt extends Attempt {
  used: UsedStep | undefined;
}

type RightAttempt = ComparedAttempt & { used: UsedStep };

type Outcomes = Map<LoginChallenge, SecondStepOutcome>;

/** Nothing was kept or told of any of the logins. */
class NotTogetherError extends Error {}

// An attempt locks the row that counts the failed ones of its user, and compares only then; a wrong code is counted in the
// transaction that compared it, and none is answered before COMMIT. So no two attempts of a user are compared at a time,
// by any instance. Logins of different users that arrive together share a transaction; what hinders one sends it, or all of
// them, to a transaction of its own.
@Injectable()
export class AppCodeLogins {
  private readonly together = new BatchedQueries((logins: AppCodeLogin[]) => this.logInTogether(logins));

  constructor(
    private readonly factors: SecondFactorsRepository,
    private readonly attempts: FailedAttemptsRepository,
    private readonly appCodes: AppCodes,
    private readonly challenged: ChallengedLogins,
    private readonly sessions: SessionOpening,
    private readonly transactions: Transactions,
  ) {}

  /** Counts no attempt for a void challenge. @throws InvalidChallengeError */
  async logIn(login: AppCodeLogin): Promise<SecondStepOutcome> {
    return (await this.together.run(login)) ?? this.logInAlone(login);
  }

  /** Waits for no row of the counts and no key, and answers with undefined in the place of each login that is to go alone. */
  private async logInTogether(logins: AppCodeLogin[]): Promise<(SecondStepOutcome | undefined)[]> {
    const firsts = firstOfEachUser(logins);
    let isTried = false;
    try {
      const outcomes = await this.transactions.run(async (transaction) => {
        // Logins that lost a conflict are not tried again together: one contested account would hold up all others.
        if (isTried) throw new NotTogetherError();
        isTried = true;
        return this.attempt(transaction, await this.lockFree(transaction, firsts));
      });
      return logins.map((login) => outcomes.get(login.challenge));
    } catch (error) {
      if (!(error instanceof NotTogetherError) && !isForeignKeyViolation(error)) throw error;
      return logins.map(() => undefined);
    }
  }

  private async logInAlone(login: AppCodeLogin): Promise<SecondStepOutcome> {
    const { challenge } = login;
    const { userId } = challenge;
    await this.appCodes.lookForKey(await this.factors.find(userId));
    return this.challenged.run(challenge, async (transaction, user) => {
      // This locks nothing: a flood of guesses costs little.
      if (isFull(user.attempts)) return { user, opened: 'not compared' };
      const failed = await this.attempts.lock(transaction, { userId, scope: 'login' });
      const outcomes = await this.attempt(transaction, [{ ...login, user, failed }]);
      return outcomes.get(challenge)!;
    });
  }

  private async lockFree(transaction: Transaction, logins: readonly AppCodeLogin[]): Promise<Attempt[]> {
    const userIds = logins.map(({ challenge }) => challenge.userId);
    const locked = await this.attempts.lockFree(transaction, userIds, 'login');
    if (locked.size === 0) return [];
    const found = await this.factors.findWithUsers(transaction, [...locked.keys()]);
    const users = new Map(found.map((user) => [user.id, user]));
    return logins.flatMap((login) => {
      const { challenge } = login;
      const user = users.get(challenge.userId);
      const failed = locked.get(challenge.userId);
      const isReady = user && failed && isChallengeOf(challenge, user) && this.appCodes.hasKey(user.factor);
      return isReady ? [{ ...login, user, failed }] : [];
    });
  }

  /** Takes attempts of different users, each with a challenge that is not void. */
  private async attempt(transaction: Transaction, attempts: readonly Attempt[]): Promise<Outcomes> {
    const full = attempts.filter(({ failed }) => isFull(failed));
    const open = attempts.filter(({ failed }) => !isFull(failed));
    const compared = open.map((attempt) => this.compare(attempt));
    const right = compared.filter(isRight);
    if (!(await this.use(transaction, right))) {
      if (attempts.length > 1) throw new NotTogetherError();
      return this.refuse(transaction, attempts);
    }
    const wrong = compared.filter((attempt) => !isRight(attempt));
    return new Map([
      ...full.map(({ challenge, user }) => [challenge, { user, opened: 'not compared' }] as const),
      ...(await this.refuse(transaction, wrong)),
      ...(await this.open(transaction, right)),
    ]);
  }

  private compare(attempt: Attempt): ComparedAttempt {
    const { user, digits } = attempt;
    return { ...attempt, used: this.appCodes.compare(user.id, user.factor, digits) };
  }

  private async use(transaction: Transaction, right: readonly RightAttempt[]): Promise<boolean> {
    if (right.length === 0) return true;
    return this.factors.useSteps(
      transaction,
      right.map(({ used }) => used),
    );
  }

  private async refuse(transaction: Transaction, wrong: readonly Attempt[]): Promise<Outcomes> {
    if (wrong.length > 0) await this.attempts.countLocked(transaction, idsOf(wrong), 'login');
    return new Map(wrong.map(({ challenge, user }) => [challenge, { user, opened: 'wrong digits' }]));
  }

  /** Sessions have the epochs of their challenges: where one ends meanwhile, its session is dead. */
  private async open(transaction: Transaction, right: readonly RightAttempt[]): Promise<Outcomes> {
    if (right.length === 0) return new Map();
    await this.attempts.clear(transaction, idsOf(right), 'login');
    const logins = right.map(({ login, user }) => ({ ...login, user }));
    const sessions = await this.sessions.openAll(transaction, logins);
    return new Map(
      right.map(({ challenge, user }, place) => [challenge, { user, opened: sessions[place]! }]),
    );
  }
}

function firstOfEachUser(logins: readonly AppCodeLogin[]): AppCodeLogin[] {
  const ofUsers = Map.groupBy(logins, ({ challenge }) => challenge.userId);
  return [...ofUsers.values()].map(([first]) => first!);
}

function isRight(attempt: ComparedAttempt): attempt is RightAttempt {
  return attempt.used !== undefined;
}

function idsOf(attempts: readonly Attempt[]): string[] {
  return attempts.map(({ user }) => user.id);
}
