import { Injectable } from '@nestjs/common';
import type { SignInOrigin } from '../access/principal.js';
import { Env } from '../config/env.js';
import { type Transaction, Transactions } from '../database/transactions/transactions.js';
import { timeText } from '../identifiers/text.js';
import { Problem } from '../problems/problem.js';
import { LoginOpening } from './logins/login-opening.js';
import { LoginFollowUps } from './logins/login-follow-ups.js';
import { LoginTraces } from './logins/login-traces.js';
import type { LoginResponse } from './sessions/sessions.responses.js';
import type { HashClient } from './passwords/hash-queue.js';
import { BreachedPasswords } from './passwords/breached-passwords.js';
import { PasswordHasher } from './passwords/password-hasher.js';
import {
  type PasswordLoginUser,
  ProviderDomainsRepository,
} from './providers/provider-domains.repository.js';
import { requireRegistrable } from './registration-policy.js';
import { InvitationAnswers } from '../orgs/invitations/invitation-answers.service.js';
import {
  CHALLENGE_TTL_MS,
  InvalidChallengeError,
  isChallengeOf,
  LoginChallenges,
} from './second-factor/login-challenges.js';
import type { Login } from './sessions/session-opening.service.js';
import { placeOf } from './sessions/known-places.repository.js';
import { UsersRepository } from '../users/users.repository.js';
import type { LoginRequest, RegisterRequest, CompleteLoginRequest } from './auth.requests.js';
import { isWrongCode, SecondFactorVerification } from './second-factor/second-factor-verification.js';
import { WITH_CODE } from './tokens/access-token.js';

/** Unknown emails and wrong passwords get the same error (OWASP Authentication Cheat Sheet). */
class InvalidCredentialsError extends Problem {
  constructor(userId?: string) {
    super('invalid_credentials', { headers: { 'WWW-Authenticate': 'Bearer' }, userId });
  }
}

class ProviderLoginRequiredError extends Problem {
  constructor(provider: string, userId?: string) {
    super('provider_login_required', { extensions: { provider }, userId });
  }
}

@Injectable()
export class AuthService {
  constructor(
    private readonly users: UsersRepository,
    private readonly domains: ProviderDomainsRepository,
    private readonly passwords: PasswordHasher,
    private readonly breached: BreachedPasswords,
    private readonly opening: LoginOpening,
    private readonly followUps: LoginFollowUps,
    private readonly challenges: LoginChallenges,
    private readonly verification: SecondFactorVerification,
    private readonly traces: LoginTraces,
    private readonly transactions: Transactions,
    private readonly invitations: InvitationAnswers,
    private readonly env: Env,
  ) {}

  /** The unique key decides whether the email is taken: a query would race, and its timing would leak. */
  async register(
    { email, password, name, locale, refresh, deviceName, invitationCode = null }: RegisterRequest,
    client: HashClient,
    origin: SignInOrigin,
  ): Promise<LoginResponse> {
    requireRegistrable(this.env, { email, invitationCode });
    const provider = await this.domains.findRequired(email);
    if (provider !== undefined) throw new ProviderLoginRequiredError(provider);
    const invitation =
      invitationCode === null ? undefined : await this.invitations.tryCode(email, invitationCode, client.key);
    await this.breached.refuse('password', password, client.key);
    const hash = await this.passwords.hash(password, client);
    const create = async (tx: Transaction) => {
      const user = await this.users.create(tx, email, hash, { name, locale });
      const { id: userId, authEpoch, revision: userRevision } = user;
      const login: Login = { userId, authEpoch, via: 'register', refresh, deviceName, origin };
      return this.opening.openFirstIn(tx, login, user, [
        { type: 'account.registered', userId, userRevision },
      ]);
    };
    const opened = invitation
      ? await this.invitations.register(invitation, client.key, create)
      : await this.transactions.run({ principal: client.key }, create);
    return this.opening.answer(opened);
  }

  /** Takes the same time whether or not the email is known. @throws second_factor_required, with the challenge */
  async login(
    { email, password, refresh, deviceName }: LoginRequest,
    client: HashClient,
    origin: SignInOrigin,
  ): Promise<LoginResponse> {
    const user = await this.domains.findPasswordLogin({ email }, placeOf(origin));
    const { matches, replacement } = await this.passwords.verify(user ?? { email }, password, client);
    if (!user || !matches) {
      this.traces.noteFailure(user ? 'wrong_password' : 'unknown_email', user, origin);
      throw new InvalidCredentialsError(user?.id);
    }
    // Only after the password was right: an attacker must not learn that the account is disabled.
    if (user.disabledAt !== null) {
      this.traces.noteFailure('account_disabled', user, origin);
      throw new Problem('account_disabled', { userId: user.id });
    }
    this.requirePasswordLogin(user, origin);

    if (replacement !== undefined) await this.users.rehashPassword(user, replacement);
    const { id: userId, authEpoch, secondFactorAt } = user;
    if (secondFactorAt !== null) {
      this.followUps.checkPassword(user, password);
      const expiresAt = Date.now() + CHALLENGE_TTL_MS;
      const enabledAt = secondFactorAt;
      const challenge = this.challenges.write({ userId, authEpoch, enabledAt, expiresAt, deviceName });
      const extensions = { challenge, expiresAt: timeText(expiresAt) };
      throw new Problem('second_factor_required', { extensions, userId });
    }
    const login: Login = { userId, authEpoch, via: 'login', refresh, deviceName, origin };
    const response = await this.opening.open(login, user);
    if (!response) throw new InvalidCredentialsError();
    this.followUps.checkPassword(user, password);
    return response;
  }

  /** Does not count a wrong code if the challenge is void. @throws InvalidChallengeError, RateLimitedError */
  async logInWithSecondFactor(
    { challenge: text, code: typed, refresh, deviceName: name }: CompleteLoginRequest,
    origin: SignInOrigin,
  ): Promise<LoginResponse> {
    const challenge = await this.challenges.read(text);
    if (!challenge) throw new InvalidChallengeError('forged_or_expired');
    const { userId, authEpoch } = challenge;
    const deviceName = name ?? challenge.deviceName;
    const user = await this.domains.findPasswordLogin({ id: userId }, placeOf(origin));
    if (!user || !isChallengeOf(challenge, user)) throw new InvalidChallengeError('account_changed', userId);
    this.requirePasswordLogin(user, origin);
    const amr = WITH_CODE.pwd;
    const login: Login = { userId, authEpoch, via: 'login', amr, refresh, deviceName, origin };
    try {
      const checked = await this.verification.check(user, 'login', typed);
      const response = await this.opening.open(login, user, checked);
      if (!response) throw new InvalidChallengeError('account_changed', userId);
      return response;
    } catch (error) {
      if (isWrongCode(error)) this.traces.noteFailure('wrong_second_factor_code', user, origin);
      throw error;
    }
  }

  /** Operators with two-factor authentication are exempt: they must log in if the provider fails. */
  private requirePasswordLogin(user: PasswordLoginUser, origin: SignInOrigin): void {
    const { requiredProvider: provider, operatorSince, secondFactorAt } = user;
    if (provider === null || (operatorSince !== null && secondFactorAt !== null)) return;
    this.traces.noteFailure('provider_required', user, origin);
    throw new ProviderLoginRequiredError(provider, user.id);
  }
}
