import type { Caller } from './caller.js';
import {
  type ExpectedProblem,
  insufficientRole,
  lastOwner,
  notAMember,
  orgNotFound,
  unauthorized,
} from './expected.js';
import { anUnknownId, type Cast, type Role, ROLES } from './personas.js';
import type { Service } from './service.js';

export interface AccessRoute {
  name: string;
  success: number;
  least: Role;
  /** by the rule of the last owner */
  refusedToOwner?: true;
}

const ACTORS = ['nobody', 'outsider', 'admin of another', ...ROLES] as const;
type Actor = (typeof ACTORS)[number];
const PLACES = ['own', 'missing', 'malformed'] as const;
type Place = (typeof PLACES)[number];

export interface AccessCase<Route extends AccessRoute> {
  route: Route;
  actor: Actor;
  /** of the organization's id */
  place: Place;
  expected: { status: number };
  succeeds: boolean;
}

export function accessCases<Route extends AccessRoute>(routes: Route[]): AccessCase<Route>[] {
  return routes.flatMap((route) =>
    ACTORS.flatMap((actor) =>
      PLACES.map((place) => {
        const refusal = refusalOf(route, actor, place);
        const expected = refusal ?? { status: route.success };
        return { route, actor, place, expected, succeeds: refusal === undefined };
      }),
    ),
  );
}

function refusalOf(route: AccessRoute, actor: Actor, place: Place): ExpectedProblem | undefined {
  if (actor === 'nobody') return unauthorized;
  if (place !== 'own') return orgNotFound;
  if (actor === 'outsider' || actor === 'admin of another') return notAMember;
  if (ROLES.indexOf(actor) < ROLES.indexOf(route.least)) return insufficientRole(route.least, actor);
  return actor === 'owner' && route.refusedToOwner ? lastOwner : undefined;
}

/** @param other an organization besides that of the cast */
export function callerFor(actor: Actor, { anyone }: Service, cast: Cast, other: Cast): Caller {
  if (actor === 'nobody') return anyone;
  return actor === 'admin of another' ? other.admin : cast[actor];
}

export function idAt(place: Place, own: string): string {
  return { own, missing: anUnknownId(), malformed: '1abc' }[place];
}
