import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { memberOf } from '../../shared/member.ts';
import { bodySchema } from '../../shared/routes/body-schema.ts';
import { openApiDocument } from '../../shared/routes/openapi.ts';
import { Components } from '../../shared/routes/openapi-schema.ts';
import { answerExample, bodyExample, parametersOf } from '../../shared/routes/openapi-words.ts';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { FORMATS } from '../../shared/schemas/addresses.ts';
import { compileValidator, createAjv } from '../../shared/schemas/validator.ts';

interface Content {
  readonly schema?: object;
  readonly example?: unknown;
}
interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly description: string;
    readonly example: unknown;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
}

const rows: readonly Row[] = ROWS;
const document = openApiDocument(ROWS, '1.2.3') as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
};
const operations = Object.values(document.paths).flatMap((item) => Object.values(item));

describe('the OpenAPI document, of which clients are made', () => {
  const ajv = createAjv();
  const ajvOfTexts = createAjv({ coerce: true });

  it('every example of a body and of an answer fits the schema that checks it', () => {
    for (const row of rows) {
      const body = bodySchema(row);
      if (body !== null) {
        const wrong = compileValidator(ajv, body)(bodyExample(row));
        expect(wrong, `${row.id}: ${JSON.stringify(bodyExample(row))}`).to.equal(null);
      }
      const answer = Object.entries(row.responses).find(([status]) => status < '300')?.[1].schema ?? null;
      if (answer !== null) expect(compileValidator(ajv, answer)(answerExample(row)), row.id).to.equal(null);
    }
  });

  it('every parameter says what it is, with an example that fits', () => {
    for (const row of rows) {
      for (const { name, description, schema, example } of parametersOf(row)) {
        const at = `${row.id} ${name}`;
        expect(description, at).to.match(/\S/);
        expect(
          compileValidator(ajvOfTexts, { type: 'object', properties: { [name]: schema } })({
            [name]: example,
          }),
          at,
        ).to.equal(null);
      }
    }
  });

  it('every operation says in sentences what it does, and has an example of each JSON body and answer', () => {
    for (const { operationId, description, requestBody, responses } of operations) {
      expect(description, operationId).to.match(/^[A-Z].*\.$/);
      const bodies = [
        requestBody?.content,
        ...Object.entries(responses).flatMap(([status, one]) => (status < '300' ? [one.content] : [])),
      ];
      for (const content of bodies) {
        const json = content?.['application/json'];
        if (
          json !== undefined &&
          memberOf(json.schema, '$ref') !== undefined &&
          operationId !== 'postVisionModels'
        )
          expect(json, operationId).to.have.property('example');
      }
    }
  });

  it('its names are names of methods and of types, each once', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids.map((id) => id.toLowerCase())).size).to.equal(ids.length);
    for (const id of ids) expect(id).to.match(/^(?:get|post|put|patch|delete)[A-Z][A-Za-z0-9]*$/);
    expect(ids).to.include.members(['getStatus', 'postCommand', 'getParamsName', 'postPluginsIdEnable']);
    const names = Object.keys(document.components.schemas);
    expect(names.length).to.be.above(150);
    for (const name of names) expect(name).to.match(/^[A-Z][A-Za-z0-9]+$/);
    expect(new Set(names.map((name) => name.toLowerCase())).size).to.equal(names.length);
  });

  it('every JSON body has a named schema, and every content a schema', () => {
    for (const { operationId, requestBody, responses } of operations) {
      for (const content of [requestBody, ...Object.values(responses)].map((one) => one?.content ?? {})) {
        for (const [type, { schema }] of Object.entries(content))
          expect(schema, `${operationId} ${type}`).to.be.an('object').and.not.to.deep.equal({});
      }
      const body = requestBody?.content['application/json'];
      if (body !== undefined) expect(body.schema, operationId).to.have.property('$ref');
    }
    const command = document.paths['/api/command']?.['post'];
    expect(command?.responses['200']?.content).to.have.all.keys('application/json');
    expect(command?.responses['200']?.content?.['application/json']?.schema).to.deep.equal({
      $ref: '#/components/schemas/CommandAnswer',
    });
  });

  it('has no schema that is true or false, and no two members of one object that a client would call the same', () => {
    const walk = (value: unknown, at: string): void => {
      if (Array.isArray(value)) value.forEach((one, index) => walk(one, `${at}/${index}`));
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
      const properties = memberOf(value, 'properties');
      if (typeof properties === 'object' && properties !== null) {
        const names = Object.keys(properties).map((name) => name.replaceAll('_', '').toLowerCase());
        expect(new Set(names).size, `${at}: ${names.join()}`).to.equal(names.length);
        for (const [name, one] of Object.entries(properties)) expect(one, `${at}/${name}`).to.be.an('object');
      }
      for (const word of ['items', 'not', 'if', 'then', 'else', 'contains']) {
        const one = memberOf(value, word);
        if (one !== undefined) expect(one, `${at}/${word}`).to.be.an('object');
      }
      for (const [name, one] of Object.entries(value)) if (name !== 'examples') walk(one, `${at}/${name}`);
    };
    walk(document.components.schemas, '');
  });

  it('its schemas say the same as those that check: what they refuse is refused, what they take is taken', () => {
    const reader = new Ajv2020({
      strict: false,
      allErrors: true,
      formats: { binary: true, 'date-time': true, date: true },
    });
    for (const [name, { fits }] of Object.entries(FORMATS)) reader.addFormat(name, fits);
    reader.addSchema({ $id: 'api', components: { schemas: document.components.schemas } });
    for (const row of rows) {
      const schema = bodySchema(row);
      const title = schema?.title;
      if (schema === null || title === undefined) continue;
      const theirs = reader.getSchema(`api#/components/schemas/${title}`);
      const ours = compileValidator(ajv, schema);
      const example = bodyExample(row) as object;
      const members = Object.keys(example);
      const tries: unknown[] = [example, {}, [], 'x', null, { ...example, zz: 1 }];
      for (const member of [...members, ...Object.keys(schema.properties ?? {})]) {
        const { [member as keyof typeof example]: _, ...without } = example;
        tries.push(
          without,
          ...[1, -1, '', 'x', true, null, [], {}].map((value) => ({ ...example, [member]: value })),
        );
      }
      for (const value of tries)
        expect(theirs?.(value), `${title}: ${JSON.stringify(value)}`).to.equal(ours(value) === null);
    }
  });

  it('two schemas of one name, a name that says two things, do not get into it', () => {
    const components = new Components();
    components.of({ title: 'One', type: 'object', properties: { a: { const: 1 } } });
    expect(
      components.of({
        title: 'One',
        type: ['object', 'null'],
        properties: { a: { const: 1 } },
        description: 'x',
      }),
    ).to.deep.equal({
      description: 'x',
      anyOf: [{ $ref: '#/components/schemas/One' }, { type: 'null' }],
    });
    expect(() => components.of({ title: 'One', type: 'object' })).to.throw('two schemas have the title One');
  });
});
