import type { Role } from '../api.gen.ts';
import type { Admission, KeyAdmission } from './guard.ts';
import { extended } from './held-token.ts';
import {
  callerNotAllowed,
  insufficientAuthentication,
  insufficientRole,
  notAMember,
  type Refusal,
} from './refusal.ts';
import { isAtLeast, isSteppedUp, lowerOf, type StepUp, type UserRequirement } from './requirement.ts';

export function bearerToken(authorization: string | undefined | null): string | undefined {
  return /^Bearer +([^\s,]+) *$/i.exec(authorization ?? '')?.[1];
}

/** A user who came directly is always allowed. An API key of an organization is allowed there alone. */
export function decideOnCaller<Admitted extends Admission | KeyAdmission>(
  admission: Admitted,
  { via, orgId }: UserRequirement & { orgId?: string | undefined },
): Admitted | Refusal {
  const latest = admission.via.at(-1);
  if (via !== undefined && latest !== undefined && !via.includes(latest)) return callerNotAllowed();
  const { orgId: only = null } = admission.key ?? {};
  if (only === null || only === orgId) return admission;
  return orgId === undefined ? callerNotAllowed() : notAMember();
}

/** @param own the role of the user in the organization; undefined if the user is not a member */
export function decideOnMember<Admitted extends Admission | KeyAdmission>(
  admission: Admitted,
  own: Role | undefined,
  least: Role | undefined,
): (Admitted & { role: Role }) | Refusal {
  if (own === undefined) return notAMember();
  const role = admission.key ? lowerOf(own, admission.key.role) : own;
  if (least !== undefined && !isAtLeast(role, least))
    return insufficientRole(least, admission.key !== undefined);
  return extended(admission, { role });
}

/** Call it last, because another login does not help a user who lacks the role. */
export function decideOnLogin<Admitted extends Admission | KeyAdmission>(
  admitted: Admitted | Refusal,
  required: StepUp,
): Admitted | Refusal {
  return admitted.ok && !isSteppedUp(admitted.session, required)
    ? insufficientAuthentication(required)
    : admitted;
}
