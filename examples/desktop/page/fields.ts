type Properties = Partial<Pick<HTMLInputElement, 'type' | 'autocomplete' | 'required' | 'maxLength'>>;
type Field = Properties & { label: string; options?: readonly string[] };

/** The fields of all forms. */
const FIELDS = {
  email: { label: 'Email', type: 'email', autocomplete: 'username', required: true },
  password: { label: 'Password', type: 'password', autocomplete: 'current-password' },
  newPassword: { label: 'New password', type: 'password', autocomplete: 'new-password', required: true },
  name: { label: 'Name', autocomplete: 'name', maxLength: 100 },
  orgName: { label: 'New organization', required: true, maxLength: 100 },
  locale: { label: 'Language of emails, such as en, de or pt-BR' },
  emailCode: { label: 'The code in the email', autocomplete: 'one-time-code', required: true },
  appCode: { label: 'The six digits in your app', autocomplete: 'one-time-code', required: true },
  invitationCode: { label: 'Invitation code, if you have one' },
  role: { label: 'Role', options: ['member', 'admin'] },
  from: { label: 'Required of all members from', type: 'date', required: true },
} satisfies Record<string, Field>;
export type FieldName = keyof typeof FIELDS;

export function fieldOf(name: FieldName, value: string): HTMLLabelElement {
  const { label, options, ...properties }: Field = FIELDS[name];
  const field = document.createElement('label');
  const input = document.createElement(options ? 'select' : 'input');
  for (const option of options ?? []) input.append(new Option(option));
  Object.assign(input, properties, { name }, value && { value });
  field.append(label, input);
  return field;
}
