import type { Role } from '../api.gen.ts';
import type { Admission, MemberAdmission } from './guard.ts';
import { extended } from './held-token.ts';
import {
  callerNotAllowed,
  insufficientAuthentication,
  insufficientRole,
  notAMember,
  type Refusal,
} from './refusal.ts';
import { isAtLeast, isSteppedUp, type StepUp, type UserRequirement } from './requirement.ts';

export function bearerToken(authorization: string | undefined | null): string | undefined {
  return /^Bearer +([^\s,]+) *$/i.exec(authorization ?? '')?.[1];
}

/** A user who came directly is always allowed. */
export function decideOnWay(admission: Admission, { via }: UserRequirement): Admission | Refusal {
  const latest = admission.via.at(-1);
  return via === undefined || latest === undefined || via.includes(latest) ? admission : callerNotAllowed();
}

/** @param role the role of the user in the organization; undefined if the user is not a member */
export function decideOnMember(
  admission: Admission,
  role: Role | undefined,
  least: Role | undefined,
): MemberAdmission | Refusal {
  if (role === undefined) return notAMember();
  if (least !== undefined && !isAtLeast(role, least)) return insufficientRole(least);
  return extended(admission, { role });
}

/** Call it last, because another login does not help a user who lacks the role. */
export function decideOnLogin<Admitted extends Admission>(
  admitted: Admitted | Refusal,
  required: StepUp,
): Admitted | Refusal {
  return admitted.ok && !isSteppedUp(admitted.session, required)
    ? insufficientAuthentication(required)
    : admitted;
}
