import type { AnySchema } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { hubOpenApi } from '../../shared/hub-api/openapi.ts';
import type { HubRow } from '../../shared/hub-api/row.ts';
import { hubRows } from '../../shared/hub-api/rows.ts';
import { createAjv } from '../../shared/schemas/validator.ts';

const rows: readonly HubRow[] = hubRows;

describe("the hub's table", () => {
  it('has schemas that are valid, and compile strictly', () => {
    const ajv = createAjv({ checkSchemas: true });
    for (const { id, query, body, answer } of rows)
      for (const schema of [query, body, answer])
        if (schema !== null) expect(() => ajv.compile(schema as AnySchema), id).not.to.throw();
  });

  it('is in the OpenAPI document, each route once, with what refuses it', () => {
    const { paths } = hubOpenApi(hubRows, '0.0.0') as {
      readonly paths: Readonly<
        Record<string, Readonly<Record<string, { operationId: string; responses: object }>>>
      >;
    };
    const operations = Object.values(paths).flatMap((item) => Object.values(item));
    expect(operations.map(({ operationId }) => operationId).toSorted()).to.deep.equal(
      rows.map(({ id }) => id).toSorted(),
    );
    for (const { access, path, method } of rows)
      if (access !== 'public')
        expect(paths[path]?.[method.toLowerCase()]?.responses).to.include.keys('401', '403', '429');
  });

  it('lets nobody without a credential change anything, except a node that proves itself and a person for whom the provider vouches', () => {
    const open = rows.filter(({ access, method }) => access === 'public' && method !== 'GET');
    expect(open.map(({ id }) => id)).to.deep.equal([
      'enroll.post',
      'renew.post',
      'turn.post',
      'sign-in.post',
      'sign-in.answer.post',
      'sign-in.token.post',
    ]);
    const unsure = rows.filter(({ method, audited }) => method !== 'GET' && !audited);
    // The first sets a cookie and changes nothing. The other's handler records it as far as it can: a full disk must not hold up a stop.
    expect(unsure.map(({ id }) => id)).to.deep.equal(['sign-in.post', 'nodes.id.calls.post']);
  });
});
