import { OperatorCreation } from '../../accounts/operator-creation.js';
import { UserOperations } from '../../accounts/user-operations.js';
import { loadHashEngine } from '../../auth/passwords/hash-engines.js';
import {
  base32,
  findStep,
  newRecoveryCodes,
  newTotpSecret,
  otpauthUri,
  readTypedCode,
} from '../../auth/second-factor/codes.js';
import { loadKeyFile } from '../../auth/tokens/key-file.js';
import { Env } from '../../config/env.js';
import { timeText } from '../../identifiers/text.js';
import { RefusedError } from '../../problems/problem.js';
import { normalizedEmail } from '../../users/email-address.js';
import { PROFILE } from '../../users/profile.js';
import type { UserView } from '../../users/user-view.js';
import { UsersRepository } from '../../users/users.repository.js';
import { ask } from '../command/ask.js';
import { type Context, secretsOf, withContext } from '../command/context.js';
import { CannotRunError, type Invocation, outcomeOf, type Report, reportOn } from '../command/definition.js';
import { qrCode } from './qr-code.js';
import { generatePassword } from './set-password.js';

const UNANSWERED = 'no code was entered: nothing was changed';

export function createOperator(invocation: Invocation): Promise<Report> {
  const email = normalizedEmail(invocation.parameters[0]);
  if (email === undefined) throw new CannotRunError('expected the email of the operator');
  return withContext(async (context) => {
    const user = await context.get(UsersRepository).findByEmail(email);
    return user !== null && user.secondFactorAt !== null
      ? grantOnly(context, user, invocation)
      : createWithFactor(context, email, user, invocation);
  });
}

async function grantOnly(context: Context, { id, email }: UserView, invocation: Invocation): Promise<Report> {
  const granted = await context.get(UserOperations).grantOperator(id, invocation.change());
  const { text, json } = outcomeOf(granted, 'now an operator', 'is already an operator');
  return reportOn(`${email} (${id})`, { id, email, created: false }, { text, json });
}

/** Everything stays in memory until the code is right. */
async function createWithFactor(
  context: Context,
  email: string,
  user: UserView | null,
  invocation: Invocation,
): Promise<Report> {
  const env = context.get(Env);
  const name = invocation.read('name', PROFILE.name.read, '1 to 100 characters on one line') ?? null;
  const isConfirmed = invocation.flag('confirm');
  const { actor } = invocation.change();
  // A missing key file must fail before the question.
  loadKeyFile(env.jwtKeysFile, true);
  if (user?.disabledAt != null) throw new RefusedError('the user is disabled', 'account_disabled');
  if (isConfirmed && !(process.stdin.isTTY && process.stderr.isTTY))
    throw new CannotRunError('the command asks for a code on a terminal: run it in one, or add --no-confirm');

  const secret = newTotpSecret();
  const uri = otpauthUri({ issuer: env.mfaIssuer, email, secret: base32(secret) });
  const lastStep = isConfirmed ? await confirm(secret, uri) : 0;
  const { texts: recoveryCodes, hashes: recoveryCodeHashes } = newRecoveryCodes();
  const password = user ? undefined : generatePassword(env);
  const passwordHash = password && (await (await loadHashEngine()).hash(password, env.argon2));
  // Read again: an operator may have removed a key while the command waited.
  const secrets = secretsOf(context, 'second factor secrets');
  const factor = { secret, secrets, lastStep, recoveryCodeHashes };
  const creation = context.get(OperatorCreation);
  const id = user?.id ?? (await creation.create({ email, name, passwordHash: passwordHash! }, factor, actor));
  if (user && (await creation.protect(id, factor, actor)).kind !== 'done')
    throw new RefusedError('the user was deleted');

  const done = user ? 'two-factor authentication is on, every session has ended' : 'created';
  const lines = [
    ...(password === undefined ? [] : [`password: ${password}`]),
    ...(isConfirmed ? [] : [...qrCode(uri, process.stdout), `second factor: ${uri}`]),
    'recovery codes, each for one login without the app:',
    ...recoveryCodes.map((code) => `  ${code}`),
    ...(user && user.emailVerifiedAt === null ? [unverified(email)] : []),
  ];
  const secretsOnce = { password, secret: base32(secret), uri, recoveryCodes };
  const json = { changed: true, ...secretsOnce };
  const text = `${done}, now an operator`;
  return reportOn(`${email} (${id})`, { id, email, created: user === null }, { text, lines, json });
}

/** Returns the step of the code. Standard output stays free for what the command returns. */
async function confirm(secret: Buffer, uri: string): Promise<number> {
  const shown = ['Scan this with an authenticator app, or copy it there:', ...qrCode(uri, process.stderr)];
  process.stderr.write(`${[...shown, uri].join('\n')}\n`);
  for (;;) {
    const code = readTypedCode(await ask('Code that the app shows: ', { unanswered: UNANSWERED }));
    const now = Date.now();
    const step = code?.kind === 'totp' ? findStep(secret, code.digits, now) : undefined;
    if (step !== undefined) return step;
    process.stderr.write(`The code is wrong. The clock of this machine shows ${timeText(now)}.\n`);
  }
}

function unverified(email: string): string {
  return `the email is not verified, and the person who registered it knows the password: if that is another person, run accounts users set-password ${email}`;
}
