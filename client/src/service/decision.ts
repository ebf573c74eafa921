import type { Role } from '../api.gen.ts';
import type { Admission, MemberAdmission } from './guard.ts';
import { insufficientAuthentication, insufficientRole, notAMember, type Refusal } from './refusal.ts';
import { isAtLeast, isSteppedUp, type StepUp } from './requirement.ts';

export function bearerToken(authorization: string | undefined | null): string | undefined {
  return /^Bearer +([^\s,]+) *$/i.exec(authorization ?? '')?.[1];
}

/** @param role the role of the user in the organization; undefined if the user is not a member */
export function decideOnMember(
  admission: Admission,
  role: Role | undefined,
  least: Role | undefined,
): MemberAdmission | Refusal {
  if (role === undefined) return notAMember();
  return least !== undefined && !isAtLeast(role, least) ? insufficientRole(least) : { ...admission, role };
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
