import { ApiUnion } from '../openapi/api-union.decorator.js';
import { RefreshableSignIn, SignIn } from './dto/auth.responses.js';

export const ApiSignIn = (status: number): MethodDecorator =>
  ApiUnion(status, 'SignInResult', SignIn, RefreshableSignIn);
