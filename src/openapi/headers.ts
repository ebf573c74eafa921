import type { OpenAPIObject } from '@nestjs/swagger';

type Headers = NonNullable<NonNullable<OpenAPIObject['components']>['headers']>;

/** Optional headers are inline, because some generators take a referenced one as required. */
export const LINK_HEADER: Headers = {
  Link: {
    description: 'Link to the next page (RFC 8288). Absent on the last page.',
    schema: { type: 'string', pattern: '^<[^>]+>; rel="next"$' },
    example: '</api/orgs/019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c/members?limit=100&cursor=MTc5N…>; rel="next"',
  },
};

export const ETAG_HEADER: Headers = {
  ETag: {
    description:
      'State of the organization and its members, for `If-Match`. With more than 1,000 members, the tag differs in every ' +
      'response. Absent with `include=profile`, because profiles have a state of their own.',
    schema: { type: 'string', pattern: '^"\\d+(?:\\.[\\w-]+)?"$' },
    example: '"7"',
  },
};

export const profileTagHeader = (isAlwaysThere: boolean): Headers => ({
  ETag: {
    description: `State of the profile, for \`If-Match\`.${isAlwaysThere ? '' : ' Absent from dry runs and repeated responses.'}`,
    ...(isAlwaysThere && { required: true }),
    schema: { type: 'string', pattern: '^"[\\w-]{22}"$' },
    example: '"Zl8x0wJ3vQm5tY7uKpRc2A"',
  },
});
