import { expect, it } from 'vitest';
import { FeedResponse } from './events.responses.js';
import { definitionOf, EVENT_TYPES, type EventType, type NewEvent } from './event-types.js';
import { isDeliveredTo } from './events.service.js';

const FOR_ALL_SERVICES = ['service.tokens_ended', 'service.call_revoked'];

const INTERNAL =
  /^(?:keys\.|account\.reset_code_issued$|account\.recovery_code|account\.identity_|account\.second_factor|account\.operator_|account\.unblocked$|mail\.|provider\.)/;

it('tells services of all but what is internal, and of services only the one concerned, unless tokens ended', () => {
  const deliveredTo = (audience: string) =>
    EVENT_TYPES.filter((type) => definitionOf(type)!.deliveredTo === audience);

  expect(deliveredTo('no service')).toEqual(EVENT_TYPES.filter((type) => INTERNAL.test(type)));
  expect(deliveredTo('that service')).toEqual(
    EVENT_TYPES.filter(
      (type) => /^(?:service\.|key\.created$)/.test(type) && !FOR_ALL_SERVICES.includes(type),
    ),
  );

  const data = '{"service":"billing"}';
  const isDelivered = (service: string, type: string) =>
    isDeliveredTo(service, { type: type as EventType, data });
  expect(isDelivered('billing', 'service.disabled')).toBe(true);
  expect(isDelivered('other', 'service.disabled')).toBe(false);
  for (const type of FOR_ALL_SERVICES) expect(isDelivered('other', type)).toBe(true);
  expect(isDelivered('billing', 'account.disabled')).toBe(true);
  expect(isDelivered('billing', 'keys.rotated')).toBe(false);
  expect(isDelivered('billing', 'account.of_a_later_version')).toBe(false);
});

it('gives the OpenAPI document one schema for each type that services receive', () => {
  const { items } = Reflect.getMetadata('swagger/apiModelProperties', FeedResponse.prototype, 'events') as {
    items: { oneOf: unknown[]; discriminator: { mapping: Record<string, string> } };
  };

  expect(Object.keys(items.discriminator.mapping)).toEqual(
    EVENT_TYPES.filter((type) => !INTERNAL.test(type)),
  );
  expect(items.oneOf).toHaveLength(new Set(Object.values(items.discriminator.mapping)).size);
});

it('accepts an event only as its type has it', () => {
  const actor = { kind: 'system' } as const;
  const ada = { actor, userId: 'ada' };
  const inOrg = { actor, orgId: 'o', orgRevision: 1 };

  const accepted: NewEvent[] = [
    { ...ada, type: 'account.enabled', userRevision: 2 },
    { ...inOrg, type: 'member.added', userId: 'ada', data: { role: 'member', via: 'added' } },
    { ...ada, type: 'session.ended', sessionId: 's', data: { reason: 'logout' } },
  ];
  const refused: NewEvent[] = [
    // @ts-expect-error without the revision that orders it
    { ...ada, type: 'account.enabled' },
    // @ts-expect-error without its data
    { ...inOrg, type: 'member.added', userId: 'ada' },
    // @ts-expect-error with an unknown word
    { ...inOrg, type: 'member.added', userId: 'ada', data: { role: 'member', via: 'magic' } },
    // @ts-expect-error about somebody whom it must not name
    { ...inOrg, type: 'invitation.created', userId: 'ada', data: { invitationId: 'i', role: 'member' } },
    // @ts-expect-error without the session that ended
    { ...ada, type: 'session.ended', data: { reason: 'logout' } },
    // @ts-expect-error without the epoch that all sessions have left
    { ...ada, type: 'session.ended', data: { reason: 'operator', all: true } },
  ];

  expect(accepted.length).toBeLessThan(refused.length);
});
