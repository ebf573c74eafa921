import { unwrap } from 'accounts-client';
import { showUser } from './frame.ts';
import type { Screen } from './screens.ts';
import { narrowScreen, onSubmit } from './view.ts';

export const profile: Screen<'profile'> = async ({ client, go }) => {
  const text = 'Members of your organizations see your name.';
  const screen = narrowScreen('Profile', text, 'Back', () => go({ at: 'orgs' }));
  const read = await client.getProfile();
  const before = unwrap(read).profile;
  // Another device may change the profile after this screen has read it.
  const ifMatch = read.ok ? read.etag : undefined;
  const fields = { name: before.name ?? '', locale: before.locale ?? '' };
  onSubmit(screen, 'form', fields, 'Save', async ({ name, locale }) => {
    const input = { name: name || null, locale: locale || null };
    const saved = unwrap(await client.updateProfile(input, { ifMatch }));
    if (saved.profile.name !== null) showUser(saved.profile.name);
    return go({ at: 'profile', notice: 'The profile was saved.' });
  });
  return screen;
};
