import { expect } from 'chai';
import * as mappings from 'mavlink-mappings';
import { crcExtraOf, shapeOf } from '../../shared/mavlink/dialect.ts';
import { DIALECT_TABLE } from '../../shared/mavlink/dialect-table.ts';
import { targetFieldsOf } from '../../shared/mavlink/targets.ts';

interface MessageClass {
  readonly MSG_ID: number;
  readonly MAGIC_NUMBER: number;
  readonly PAYLOAD_LENGTH: number;
  readonly FIELDS: readonly {
    name: string;
    offset: number;
    size: number;
    length: number;
    extension: boolean;
  }[];
}

function messagesOfPackage(): readonly MessageClass[] {
  const {
    minimal,
    standard,
    common,
    ardupilotmega,
    uavionix,
    icarous,
    asluav,
    development,
    ualberta,
    storm32,
  } = mappings;
  const dialects = [
    minimal,
    standard,
    common,
    ardupilotmega,
    uavionix,
    icarous,
    asluav,
    development,
    ualberta,
    storm32,
  ];
  return dialects.flatMap(({ REGISTRY }) => Object.values(REGISTRY) as unknown as MessageClass[]);
}

/** The table as the package has it today, one row of four numbers for each message, by id. */
function tableOfPackage(): number[][] {
  const rows = messagesOfPackage().map(({ MSG_ID, MAGIC_NUMBER, PAYLOAD_LENGTH, FIELDS }) => {
    const ends = FIELDS.filter((field) => !field.extension).map(
      ({ offset, size, length }) => offset + size * (length === 0 ? 1 : length),
    );
    return [MSG_ID, MAGIC_NUMBER, Math.max(0, ...ends), PAYLOAD_LENGTH];
  });
  return rows.sort(([a = 0], [b = 0]) => a - b);
}

describe('MAVLink dialect table', () => {
  it('equals the dialects of mavlink-mappings', () => {
    const wanted = tableOfPackage();
    // On a mismatch this text is the new content of shared/mavlink/dialect-table.ts.
    expect(DIALECT_TABLE.join(', ')).to.equal(wanted.flat().join(', '));
    for (const [id = -1, crcExtra, baseLength, fullLength] of wanted) {
      expect(shapeOf(id)).to.deep.equal({ crcExtra, baseLength, fullLength });
      expect(crcExtraOf(id)).to.equal(crcExtra);
    }
  });

  it('says of each message where it names whom it is for, as the package does', () => {
    for (const { MSG_ID, FIELDS } of messagesOfPackage()) {
      const offsetOf = (wanted: string): number | undefined =>
        FIELDS.find(({ name, length }) => name === wanted && length === 0)?.offset;
      const system = offsetOf('targetSystem');
      const wanted = system === undefined ? null : { system, component: offsetOf('targetComponent') ?? -1 };
      expect(targetFieldsOf(MSG_ID), `message ${MSG_ID}`).to.deep.equal(wanted);
    }
  });

  it('agrees with the checksums that node-mavlink knows', () => {
    for (const [id, extra] of Object.entries(mappings.MSG_ID_MAGIC_NUMBER)) {
      expect(crcExtraOf(Number(id)), `message ${id}`).to.equal(extra);
    }
    expect(crcExtraOf(3)).to.equal(-1);
    expect(crcExtraOf(16_777_215)).to.equal(-1);
  });
});
