export const LINK_SCHEME = 'engine-room';

/** As long as Accounts reads it. */
const LINK = new RegExp(`^${LINK_SCHEME}://invitation/([\\dA-Za-z-]{10,20})/?$`);

/**
 * Returns the code in a link such as `engine-room://invitation/7K2M9-QX4TB`. Any page of the web can open such a link, so
 * the program fills in the code, and the user decides.
 */
export function invitationIn(link: string | undefined): string | undefined {
  return LINK.exec(link ?? '')?.[1];
}
