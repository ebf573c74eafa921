import * as fc from 'fast-check';
import { Exchange, IssueCode, Login, Logout, Me, Register } from './account-requests.js';
import {
  AnswerInvitation,
  Invite,
  RegisterInvited,
  ResendInvitation,
  RevokeInvitation,
} from './invitation-requests.js';
import type { RealService } from './model-request.js';
import { AddMember, ChangeMember, CreateOrg, ReadOrg } from './org-requests.js';
import { DeleteOrg, LeaveOrg, RenameOrg, RestoreOrg, TransferOrg } from './org-life-requests.js';
import type { ReferenceModel, Role } from './reference-model.js';
import {
  BeginSecondFactor,
  ChangeSecondFactor,
  type CodeChoice,
  ConfirmSecondFactor,
  SecondStep,
} from './second-factor-requests.js';
import {
  AddService,
  type Change,
  ChangeService,
  ExchangeAsService,
  IssueBoundCode,
} from './service-requests.js';

const ROLES: readonly Role[] = ['member', 'admin', 'owner'];
const SERVICES = ['billing', 'reports'] as const;
// Enabled as often as disabled; a secret is added as often as one is revoked.
const CHANGES: readonly Change[] = ['rotate', 'rotate', 'revoke', 'revoke and end', 'disable', 'enable'];
const CODES: readonly CodeChoice[] = [
  'app',
  'wrong digits',
  'own recovery code',
  'own recovery code',
  'own recovery code',
  'any recovery code',
];

/**
 * A beginning from which the interesting requests are near: the people, one of them with a second factor, an organization of
 * three of them, and two services that each have a token of one.
 */
export async function populate(
  model: ReferenceModel,
  real: RealService,
  people: readonly [string, string, string, ...string[]],
): Promise<void> {
  for (const person of people) await new Register(person).run(model, real);
  await new BeginSecondFactor(1).run(model, real);
  await new ConfirmSecondFactor(1, true).run(model, real);
  await new Login(people[1], true).run(model, real);
  await new CreateOrg(0).run(model, real);
  await new AddMember(0, 0, people[1], 'admin').run(model, real);
  await new AddMember(0, 0, people[2], 'member').run(model, real);
  for (const service of SERVICES) await new AddService(service).run(model, real);
  for (const [index, service] of SERVICES.entries()) {
    await new IssueBoundCode(index, service).run(model, real);
    await new ExchangeAsService(index, index, undefined).run(model, real);
  }
}

/**
 * Random sequences of all requests by several users; only those that are possible so far are run.
 *
 * @param replayPath of a failed run, so that it is replayed
 */
export function serviceCommands(
  maxCommands: number,
  replayPath: string | undefined,
): fc.Arbitrary<Iterable<fc.AsyncCommand<ReferenceModel, RealService>>> {
  const pick = fc.nat({ max: 1000 });
  const person = fc.constantFrom('ann', 'bob', 'cyd', 'dee');
  const role = fc.constantFrom(...ROLES);
  const service = fc.constantFrom(...SERVICES);
  const shown = fc.constantFrom(...CODES);
  const mostly = fc.constantFrom(true, true, true, false);
  return fc.commands(
    [
      person.map((who) => new Register(who)),
      fc.tuple(person, fc.boolean()).map(([who, isRight]) => new Login(who, isRight)),
      pick.map((session) => new Me(session)),
      pick.map((session) => new IssueCode(session)),
      pick.map((code) => new Exchange(code)),
      pick.map((session) => new Logout(session)),
      fc.tuple(service, fc.constantFrom(...CHANGES)).map((parts) => new ChangeService(...parts)),
      fc.tuple(pick, service).map((parts) => new IssueBoundCode(...parts)),
      // As often as an exchange has a chance, since most codes are for one of two services.
      ...[1, 2].map(() =>
        fc
          .tuple(pick, pick, fc.constantFrom(undefined, undefined, undefined, ...SERVICES))
          .map((parts) => new ExchangeAsService(...parts)),
      ),
      pick.map((session) => new BeginSecondFactor(session)),
      fc.tuple(pick, mostly).map((parts) => new ConfirmSecondFactor(...parts)),
      fc.tuple(pick, shown, pick).map((parts) => new SecondStep(...parts)),
      fc.tuple(pick, shown, pick).map((parts) => new SecondStep(...parts)),
      fc
        .tuple(pick, fc.constantFrom('renew' as const, 'remove' as const), shown, pick)
        .map((parts) => new ChangeSecondFactor(...parts)),
      pick.map((session) => new CreateOrg(session)),
      fc.tuple(pick, pick).map(([session, org]) => new ReadOrg(session, org, '')),
      fc.tuple(pick, pick).map(([session, org]) => new ReadOrg(session, org, '/members')),
      fc.tuple(pick, pick, person, role).map((parts) => new AddMember(...parts)),
      fc.tuple(pick, pick, person, role).map((parts) => new ChangeMember(...parts)),
      fc.tuple(pick, pick, person).map((parts) => new ChangeMember(...parts, undefined)),
      fc.tuple(pick, pick).map((parts) => new LeaveOrg(...parts)),
      fc.tuple(pick, pick, person, fc.boolean()).map((parts) => new TransferOrg(...parts)),
      fc.tuple(pick, pick, fc.constantFrom('One', 'Two')).map((parts) => new RenameOrg(...parts)),
      fc.tuple(pick, pick).map((parts) => new DeleteOrg(...parts)),
      // As often as a deletion succeeds, so that few organizations are deleted at any moment.
      fc.tuple(pick, pick).map((parts) => new RestoreOrg(...parts)),
      fc.tuple(pick, pick).map((parts) => new RestoreOrg(...parts)),
      fc.tuple(pick, pick, person, role).map((parts) => new Invite(...parts)),
      fc.tuple(pick, pick).map((parts) => new ResendInvitation(...parts)),
      fc.tuple(pick, pick).map((parts) => new RevokeInvitation(...parts)),
      fc
        .tuple(pick, pick, fc.constantFrom('accept' as const, 'decline' as const), mostly)
        .map((parts) => new AnswerInvitation(...parts)),
      fc.tuple(person, pick).map((parts) => new RegisterInvited(...parts)),
    ],
    { maxCommands, size: 'max', ...(replayPath === undefined ? {} : { replayPath }) },
  );
}
