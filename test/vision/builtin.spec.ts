import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { compileValidator, createAjv } from '../../shared/schemas/validator.ts';
import { modelMeta } from '../../shared/schemas/vision.ts';
import { modelFiles } from '../../shared/vision/model-files.ts';
import { marker } from '../models/made-model.ts';
import { yolov8nShape } from '../models/yolov8n-shape.ts';

describe('models that a script makes', () => {
  it('the files of the built-in one are what its script writes', () => {
    const files = modelFiles('/nowhere', 'marker');
    const made = marker();
    expect(files.builtin).to.equal(true);
    expect(readFileSync(files.model).equals(made.model), 'npm run models').to.equal(true);
    expect(JSON.parse(readFileSync(files.meta, 'utf8'))).to.deep.equal(JSON.parse(made.meta));
    expect(compileValidator(createAjv(), modelMeta)(JSON.parse(made.meta))).to.equal(null);
  });

  it('the one for measuring has the size and the cost of YOLOv8n', () => {
    const { parameters, flops, places } = yolov8nShape(640);
    expect(parameters / 1e6).to.be.closeTo(3.15, 0.05);
    expect(flops / 1e9).to.be.closeTo(8.7, 0.1);
    expect(places).to.equal(8400);
  });
});
