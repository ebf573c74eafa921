import type { OpenAPIObject } from '@nestjs/swagger';
import { describe, expect, it } from 'vitest';
import { type Access, BY_PASSWORD, operatorsAssurance } from '../access/route-access.js';
import { ApiProblems, invalidFields, ownProblems } from './decorators.js';
import { type BodyKind, impliedProblems } from './problem-responses.js';
import { describeCredentials } from './responses.js';

const ANY_TOKEN = ['unauthorized', 'invalid_token'];
const TOKEN = [...ANY_TOKEN, 'insufficient_scope'];
const ORG = [...TOKEN, 'org_not_found', 'not_a_member'];

const codes = (access: Access, body: BodyKind = 'none'): string[] =>
  impliedProblems(access, body).map(({ code }) => code);

describe('the failures', () => {
  it.each<[Access, string[]]>([
    [{ to: 'everyone' }, []],
    [{ to: 'signed-in' }, TOKEN],
    [{ to: 'signed-in', boundTokens: true }, ANY_TOKEN],
    [{ to: 'signed-in', or: 'refresh-token' }, TOKEN],
    [{ to: 'signed-in', assurance: BY_PASSWORD }, [...TOKEN, 'password_session_required']],
    [{ to: 'members', minRole: 'member' }, ORG],
    [
      { to: 'members', minRole: 'member', boundTokens: true },
      ORG.filter((code) => code !== 'insufficient_scope'),
    ],
    [{ to: 'members', minRole: 'admin' }, [...ORG, 'insufficient_role']],
    [
      { to: 'members', minRole: 'owner', assurance: BY_PASSWORD },
      [...ORG, 'insufficient_role', 'password_session_required'],
    ],
    [{ to: 'services', scope: 'introspect' }, ['invalid_client', 'insufficient_scope']],
    [
      { to: 'operators', assurance: operatorsAssurance },
      [...TOKEN, 'operator_required', 'insufficient_user_authentication'],
    ],
  ])('of a route for %o are what its guards refuse', (access, expected) => {
    expect(codes(access)).toEqual(expected);
  });

  it('of a route that reads a body are what the body and a dry run are refused for', () => {
    expect(codes({ to: 'everyone' }, 'json')).toEqual([
      'validation_failed',
      'malformed_json',
      'body_too_large',
      'unsupported_media_type',
    ]);
    expect(codes({ to: 'everyone' }, 'form')).toEqual([
      'validation_failed',
      'body_too_large',
      'unsupported_media_type',
    ]);
  });

  it('of a change by somebody who is signed in are its limit, but not of logging out or of a service', () => {
    expect(codes({ to: 'signed-in' }, 'json')).toContain('rate_limited');
    expect(codes({ to: 'members', minRole: 'member' }, 'json')).toContain('rate_limited');
    expect(codes({ to: 'signed-in', or: 'refresh-token' }, 'json')).not.toContain('rate_limited');
    expect(codes({ to: 'services', scope: 'introspect' }, 'json')).not.toContain('rate_limited');
  });

  it('name the scope that is required', () => {
    expect(impliedProblems({ to: 'services', scope: 'events' }, 'none')).toContainEqual({
      code: 'insufficient_scope',
      extensions: { requiredScope: 'events' },
    });
  });

  it('name the role that is required', () => {
    const required = (minRole: 'admin' | 'owner') =>
      impliedProblems({ to: 'members', minRole }, 'none').find(({ code }) => code === 'insufficient_role');
    expect(required('owner')).toMatchObject({ extensions: { requiredRole: 'owner' } });
    // The default of the code.
    expect(required('admin')).toEqual({ code: 'insufficient_role' });
  });
});

it('lists what several decorators document in the order in which they are written', () => {
  const own = invalidFields({ role: 'must be a role' });
  class Routes {
    @ApiProblems('rate_limited')
    @ApiProblems(own, 'last_owner')
    change(this: void): void {}

    read(this: void): void {}
  }

  expect(ownProblems(Routes.prototype.change)).toEqual([
    { code: 'rate_limited' },
    own,
    { code: 'last_owner' },
  ]);
  expect(ownProblems(Routes.prototype.read)).toEqual([]);
});

const BEARER = { type: 'http', scheme: 'bearer' } as const;

function schemesWhere(security: Record<string, string[]>[]): string[] {
  const document: Pick<OpenAPIObject, 'paths' | 'components'> = {
    paths: { '/api/auth/introspect': { post: { security, responses: {} } } },
    components: { securitySchemes: { bearer: BEARER } },
  };
  describeCredentials(document);
  return Object.keys(document.components!.securitySchemes!);
}

it('names the scheme of services only where an operation takes their credentials', () => {
  expect(schemesWhere([{ bearer: [] }])).toEqual(['bearer']);
  expect(schemesWhere([{}, { basic: [] }])).toEqual(['bearer', 'basic']);
});
