/** A user as others see one. */
export class UserResponse {
  /** @example "019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f" */
  id: string;

  /** @example "ada@example.com" */
  email: string;
}
