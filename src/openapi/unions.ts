import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';

// Adds unions of classes, by which generated clients narrow an answer. Each answer has to match one alternative only,
// so the lesser one excludes what the other has.
export function addUnions({ components }: OpenAPIObject): void {
  const schemas = components!.schemas!;
  schemas['SignIn'] = { ...schemas['SignIn'], not: { required: ['refreshToken'] } };
  schemas['SignInResult'] = {
    description: 'The answer has a refresh token if the request had `refresh`.',
    oneOf: [{ $ref: getSchemaPath('SignIn') }, { $ref: getSchemaPath('RefreshableSignIn') }],
  };
  schemas['CodeResult'] = { ...schemas['CodeResult'], not: { required: ['audience'] } };
  schemas['IssuedCode'] = {
    description: 'The answer repeats the audience if the request had one.',
    oneOf: [{ $ref: getSchemaPath('CodeResult') }, { $ref: getSchemaPath('BoundCodeResult') }],
  };
  schemas['IntrospectionResult'] = {
    description: '`active` tells the answers apart.',
    oneOf: [{ $ref: getSchemaPath('ActiveToken') }, { $ref: getSchemaPath('InactiveToken') }],
  };
}
