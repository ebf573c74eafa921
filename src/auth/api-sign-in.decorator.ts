import { ApiUnion } from '../openapi/decorators.js';
import { RefreshableSignIn, SignIn } from './auth.responses.js';

export const ApiSignIn = (status: number): MethodDecorator =>
  ApiUnion(status, 'SignInResult', SignIn, RefreshableSignIn);
