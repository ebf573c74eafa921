import type { At } from './screens.ts';

const FIELDS = 'input, select, button';
const element = (name: string): HTMLElement => document.querySelector<HTMLElement>(name)!;
const [bar, main] = [element('#bar'), element('main')];
let shownAt: At | undefined;

/** Shows a screen in the window. One that is shown again keeps the focus where it was. */
export function mount(at: At, screen: HTMLElement, notice = ''): void {
  const index = at === shownAt ? [...main.querySelectorAll(FIELDS)].indexOf(document.activeElement!) : -1;
  shownAt = at;
  main.replaceChildren(screen);
  const title = screen.querySelector('h1')!;
  title.tabIndex = -1;
  document.title = `${title.textContent} – Engine Room`;
  element('#notice').textContent = notice;
  const fields = main.querySelectorAll<HTMLElement>(FIELDS);
  (fields[index] ?? main.querySelector<HTMLElement>('form:not([hidden]) input') ?? title).focus();
}

/** The bar is for users who are logged in. */
export function showBar(at: At, isLoggedIn: boolean): void {
  bar.hidden = !isLoggedIn;
  for (const button of bar.querySelectorAll<HTMLElement>('[data-go]'))
    button.ariaCurrent = button.dataset['go'] === at ? 'page' : null;
}

export function showUser(name: string): void {
  element('#user').textContent = name;
}

export function onBar(go: (at: string) => unknown, logOut: () => unknown): void {
  for (const button of bar.querySelectorAll<HTMLElement>('[data-go]'))
    button.addEventListener('click', () => go(button.dataset['go']!));
  element('#log-out').addEventListener('click', logOut);
  document.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') main.querySelector<HTMLElement>('[data-part="back"]')?.click();
  });
}
