import type { ShownProblem } from '../bridge.ts';
import { explain } from './explain.ts';
import { type FieldName, fieldOf } from './fields.ts';

/** What a user does. It throws what `unwrap` throws. */
type Action = () => Promise<unknown>;

/** A copy of a template of index.html. Its parts are found by `data-part`. */
export function screenOf(name: string): HTMLElement {
  return copyOf(document.querySelector(`template#${name}`)!);
}

/** A screen of one form at a time. */
export function narrowScreen(title: string, text: string, back: string, goBack: Action): HTMLElement {
  const screen = screenOf('narrow');
  setText(screen, { title, text, back });
  onClick(screen, 'back', goBack);
  return screen;
}

function copyOf({ content }: HTMLTemplateElement): HTMLElement {
  return content.firstElementChild!.cloneNode(true) as HTMLElement;
}

export function part(root: HTMLElement, name: string): HTMLElement {
  const found = root.querySelector<HTMLElement>(`[data-part="${name}"]`);
  if (!found) throw new Error(`index.html has no part ${name}`);
  return found;
}

export function setText(root: HTMLElement, texts: Record<string, string>): void {
  for (const [name, text] of Object.entries(texts)) part(root, name).textContent = text;
}

/** Repeats the template in a part, once for each item. */
export function setRows<Item>(
  root: HTMLElement,
  name: string,
  items: readonly Item[],
  fill: (row: HTMLElement, item: Item) => void,
): void {
  const list = part(root, name);
  const template = list.querySelector('template')!;
  list.replaceChildren(template);
  for (const item of items) {
    const row = copyOf(template);
    list.append(row);
    fill(row, item);
  }
}

/** Makes a form of the fields, with their first values. */
export function onSubmit<Name extends FieldName>(
  root: HTMLElement,
  name: string,
  first: Record<Name, string>,
  label: string,
  submit: (values: Record<Name, string>) => Promise<unknown>,
): void {
  const form = part(root, name) as HTMLFormElement;
  const names = Object.keys(first) as Name[];
  const button = Object.assign(document.createElement('button'), { textContent: label });
  form.append(...names.map((field) => fieldOf(field, first[field])), button);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(form)) as Record<Name, string>;
    void attempt(form, () => submit(values));
  });
}

export function onClick(root: HTMLElement, name: string, act: Action): void {
  const button = part(root, name);
  button.addEventListener('click', () => void attempt(button.closest<HTMLElement>('form, section')!, act));
}

/** Shows one part in the place of another. */
export function replace(root: HTMLElement, hidden: string, shown: string): void {
  part(root, hidden).hidden = true;
  part(root, shown).hidden = false;
  part(root, shown).querySelector<HTMLElement>('input, button')?.focus();
}

/** Runs one action of a place at a time, and shows its problem there. */
export async function attempt(place: HTMLElement, act: Action): Promise<void> {
  if (place.ariaBusy === 'true') return;
  for (const shown of document.querySelectorAll('.problem')) shown.remove();
  for (const field of place.querySelectorAll('[aria-invalid]')) field.ariaInvalid = null;
  place.ariaBusy = 'true';
  await act().catch((error: unknown) => showProblem(place, problemOf(error)));
  place.ariaBusy = 'false';
}

/** `unwrap` throws an error whose cause is the problem. */
export function problemOf(error: unknown): ShownProblem {
  const { message, cause } = error as Error;
  return typeof cause === 'object' ? (cause as ShownProblem) : { code: 'failed', detail: message };
}

/** Some problems mean another screen: app.ts listens. */
function showProblem(place: HTMLElement, problem: ShownProblem): void {
  const event = new CustomEvent('problem', { detail: problem, cancelable: true });
  if (!document.dispatchEvent(event)) return;
  for (const { field } of problem.errors ?? [])
    for (const input of place.querySelectorAll(`[name$="${field}" i]`)) input.ariaInvalid = 'true';
  const properties = { className: 'problem', role: 'alert', textContent: explain(problem) };
  place.append(Object.assign(document.createElement('p'), properties));
  place.querySelector<HTMLElement>('[aria-invalid]')?.focus();
}
