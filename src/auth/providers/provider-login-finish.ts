import { Injectable } from '@nestjs/common';
import type { SignInOrigin } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import {
  isForeignKeyViolation,
  isUniqueViolation,
  LostConflictError,
} from '../../database/transactions/database-errors.js';
import { type Transaction, Transactions } from '../../database/transactions/transactions.js';
import type { Turn } from '../../database/transactions/transaction-queue.js';
import { Mails } from '../../mail/mails.js';
import { Problem } from '../../problems/problem.js';
import { FailedLogins } from '../../rate-limits/login-limits.js';
import { providerLoginEnded } from '../../telemetry/metrics/measurements.js';
import { NO_PASSWORD_HASH } from '../../users/user.entity.js';
import { UserChanges } from '../../users/user-changes.js';
import { UsersRepository } from '../../users/users.repository.js';
import { UserUpdatesRepository } from '../../users/users.updates.js';
import { LoginOpening, type OpenedLogin } from '../logins/login-opening.js';
import type { LoginResponse } from '../sessions/sessions.responses.js';
import { LoginTraces } from '../logins/login-traces.js';
import type { HashClient } from '../passwords/hash-queue.js';
import { PasswordHasher } from '../passwords/password-hasher.js';
import {
  type CheckedCode,
  isWrongCode,
  SecondFactorVerification,
} from '../second-factor/second-factor-verification.js';
import { challengeOf, hashCode, isCode } from '../sessions/codes.service.js';
import type { LinkDetails } from '../../mail/template.js';
import { type LoginUser, placeOf } from '../sessions/known-places.repository.js';
import type { Login } from '../sessions/session-opening.service.js';
import { decideFinish, type FinishFacts, trustedEmail } from './decide-finish.js';
import {
  IDENTITIES_SUBJECT_KEY,
  IDENTITIES_USER_KEY,
  IdentitiesRepository,
  type LinkableUser,
} from './identities.repository.js';
import { type ConfirmedLogin, ProviderLoginsRepository } from './provider-logins.repository.js';
import { InvalidProviderLoginError } from './provider-logins.service.js';
import { type ProviderSettings, readSettings } from './provider-settings.js';
import { ProvidersRepository } from './providers.repository.js';
import type { FinishProviderLoginRequest } from './providers.requests.js';

/** Between the reads and the transaction, another request changed what the decision rests on. */
class FactsChangedError extends Error {}

/** What one finish works with. */
interface Finish {
  confirmed: ConfirmedLogin;
  settings: ProviderSettings;
  request: FinishProviderLoginRequest;
  client: HashClient;
  origin: SignInOrigin;
}

const DAY_MS = 86_400_000;

/** Opens the session of a login that a provider has confirmed. Only success uses the code. */
@Injectable()
export class ProviderLoginFinish {
  constructor(
    private readonly logins: ProviderLoginsRepository,
    private readonly identities: IdentitiesRepository,
    private readonly providers: ProvidersRepository,
    private readonly users: UsersRepository,
    private readonly updates: UserUpdatesRepository,
    private readonly changes: UserChanges,
    private readonly passwords: PasswordHasher,
    private readonly verification: SecondFactorVerification,
    private readonly opening: LoginOpening,
    private readonly traces: LoginTraces,
    private readonly failed: FailedLogins,
    private readonly mails: Mails,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  async finish(
    request: FinishProviderLoginRequest,
    client: HashClient,
    origin: SignInOrigin,
  ): Promise<LoginResponse> {
    if (!isCode(request.code)) throw new InvalidProviderLoginError('malformed');
    // A wrong verifier finds no row, so a stranger cannot use the tries up.
    const hash = hashCode(request.code, challengeOf(request.codeVerifier));
    const confirmed = await this.logins.find(hash);
    if (!confirmed) throw new InvalidProviderLoginError('unknown');
    const { provider } = confirmed;
    try {
      if (!(await this.logins.countTry(hash))) throw new InvalidProviderLoginError('void');
      const authTime = confirmed.authTime ?? Infinity;
      if (authTime + this.env.sessionMaxAge * 1000 <= Date.now())
        throw new InvalidProviderLoginError('too_old');
      const settings = readSettings(confirmed.settings);
      const response = await this.untilUnchanged({ confirmed, settings, request, client, origin });
      providerLoginEnded.emit({ provider, outcome: 'success' });
      return response;
    } catch (error) {
      if (error instanceof Problem) providerLoginEnded.emit({ provider, outcome: error.code });
      throw error;
    }
  }

  private async untilUnchanged(finish: Finish): Promise<LoginResponse> {
    try {
      return await this.attempt(finish);
    } catch (error) {
      if (!isChangeOfFacts(error)) throw error;
    }
    // The other request may have used this code, or disabled the provider.
    if (!(await this.logins.find(finish.confirmed.hash))) throw new InvalidProviderLoginError('changed');
    return this.attempt(finish).catch((error: unknown) => {
      throw isChangeOfFacts(error) ? new LostConflictError(error) : error;
    });
  }

  private async attempt(finish: Finish): Promise<LoginResponse> {
    const { confirmed, settings, request, origin } = finish;
    const { providerId } = confirmed;
    const place = placeOf(origin);
    const known = await this.identities.findUser(confirmed, place);
    const email = known ? undefined : trustedEmail(confirmed, settings);
    const owner = email === undefined ? undefined : await this.identities.findOwner(providerId, email, place);
    // Another finish has linked this very user since the first statement.
    if (owner?.linkedTo === confirmed.subject) throw new FactsChangedError();
    const user = known ?? owner;

    const { password, secondFactorCode } = request;
    const facts: FinishFacts = {
      settings,
      known,
      email,
      owner,
      password: password === undefined ? 'absent' : 'unchecked',
      hasCode: secondFactorCode !== undefined,
    };
    let outcome = decideFinish(facts);
    if (outcome.kind === 'check_password') {
      const result = await this.checkPassword(owner!, finish);
      outcome = decideFinish({ ...facts, password: result });
    }
    if (outcome.kind === 'refuse') {
      const { code } = outcome;
      if (code === 'wrong_password' || code === 'account_disabled')
        this.traces.noteFailure(code, user, origin);
      throw new Problem(code, { userId: user?.id });
    }
    if (outcome.kind === 'create') return this.create(finish, email!);
    const needsCode = 'needsCode' in outcome && outcome.needsCode;
    const code = needsCode ? await this.checkCode(user!, secondFactorCode!, origin) : undefined;
    const open = (tx: Transaction): Promise<OpenedLogin> =>
      outcome.kind === 'link'
        ? this.link(tx, finish, owner!, { via: outcome.via, code })
        : this.opening.openIn(tx, this.loginOf(finish, known!, code), known!, { code });
    return this.openOnce(finish, { principal: user!.id, ...(code && { row: user!.id }) }, open);
  }

  /** Deletes the row first: of many finishes on many instances one opens a session, and a rollback keeps the code. */
  private async openOnce(
    { confirmed }: Finish,
    turn: Turn,
    open: (tx: Transaction) => Promise<OpenedLogin>,
  ): Promise<LoginResponse> {
    const opened = await this.transactions.run(turn, async (tx) => {
      if (!(await this.logins.use(tx, confirmed.hash))) throw new InvalidProviderLoginError('used');
      return open(tx);
    });
    return this.opening.answer(opened);
  }

  private create(finish: Finish, email: string): Promise<LoginResponse> {
    const { confirmed, client } = finish;
    const { providerId, subject, provider, name } = confirmed;
    return this.openOnce(finish, { principal: client.key, row: provider }, async (tx) => {
      await this.requireEnabled(tx, providerId);
      const profile = { name, emailVerifiedAt: Date.now() };
      const user = await this.users.create(tx, email, NO_PASSWORD_HASH, profile);
      await this.identities.insert(tx, { providerId, subject, userId: user.id, createdAt: user.createdAt });
      const about = { userId: user.id, userRevision: user.revision };
      const login = { ...this.loginOf(finish, user), via: 'register' } as const;
      return this.opening.openFirstIn(tx, login, user, [
        { ...about, type: 'account.registered', data: { via: 'provider', provider } },
        { ...about, type: 'account.identity_linked', data: { provider, via: 'created' } },
      ]);
    });
  }

  /** Locks the provider, then the user, and looks again at what the decision rests on. */
  private async link(
    tx: Transaction,
    finish: Finish,
    owner: LinkableUser,
    { via, code }: { via: 'email' | 'password'; code: CheckedCode | undefined },
  ): Promise<OpenedLogin> {
    const { providerId, subject, provider, title } = finish.confirmed;
    const { id: userId, email: recipient } = owner;
    await this.requireEnabled(tx, providerId);
    const { requestId, address } = finish.origin;
    const locked = await this.changes.raise(tx, { kind: 'system', requestId, address }, userId);
    const isUnchanged =
      locked?.disabledAt === null && locked.email === owner.email && locked.authEpoch === owner.authEpoch;
    const isProven =
      via === 'password'
        ? await this.updates.hasPassword(tx, userId, owner.passwordHash)
        : locked?.emailVerifiedAt !== null && locked?.operatorSince === null;
    if (!isUnchanged || !isProven) throw new FactsChangedError();

    await this.identities.insert(tx, { providerId, subject, userId, createdAt: Date.now() });
    const isNewlyVerified = await this.updates.proveEmail(tx, userId, recipient);
    await this.mails.notify(tx, {
      kind: 'identity_linked',
      recipient,
      senderId: userId,
      details: JSON.stringify({ provider: title } satisfies LinkDetails),
    });
    const { revision: userRevision } = await this.updates.stateOf(tx, userId);
    const about = { userId, userRevision };
    const causes = [
      ...(isNewlyVerified ? [{ ...about, type: 'account.email_verified' } as const] : []),
      { ...about, type: 'account.identity_linked', data: { provider, via } } as const,
    ];
    return this.opening.openIn(tx, this.loginOf(finish, owner, code), owner, { code, causes });
  }

  private async requireEnabled(tx: Transaction, providerId: string): Promise<void> {
    if (!(await this.providers.raiseEnabled(tx, providerId)))
      throw new InvalidProviderLoginError('provider_disabled');
  }

  private loginOf(
    { confirmed, settings, request, origin }: Finish,
    { id: userId, authEpoch }: Pick<LoginUser, 'id' | 'authEpoch'>,
    code?: CheckedCode,
  ): Login {
    const { refresh, deviceName } = request;
    const now = Date.now();
    // Without a time of the provider, no step-up may take the login for recent.
    const authTime = confirmed.authTime ?? now - Math.min(DAY_MS, this.env.sessionMaxAge * 500);
    const endsAt = now + settings.sessionMaxAge * 1000;
    const amr = code ? 'fed otp' : 'fed';
    const { provider } = confirmed;
    return { userId, authEpoch, authTime, amr, endsAt, provider, via: 'login', refresh, deviceName, origin };
  }

  private async checkPassword(
    owner: LoginUser,
    { request, client, origin }: Finish,
  ): Promise<'right' | 'wrong'> {
    const giveBack = await this.failed.count(owner, origin.address);
    const { matches } = await this.passwords.verify(owner, request.password!, client);
    if (!matches) return 'wrong';
    void giveBack();
    return 'right';
  }

  private async checkCode(user: LoginUser, typed: string, origin: SignInOrigin): Promise<CheckedCode> {
    try {
      return await this.verification.check(user, 'login', typed);
    } catch (error) {
      if (isWrongCode(error)) this.traces.noteFailure('wrong_second_factor_code', user, origin);
      throw error;
    }
  }
}

function isChangeOfFacts(error: unknown): boolean {
  return (
    error instanceof FactsChangedError ||
    isUniqueViolation(error, IDENTITIES_SUBJECT_KEY) ||
    isUniqueViolation(error, IDENTITIES_USER_KEY) ||
    (error instanceof Problem && error.code === 'email_taken') ||
    // The user or the provider was deleted.
    isForeignKeyViolation(error)
  );
}
