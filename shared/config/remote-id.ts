import { CLASSIFICATION_NAMES } from '../flight/remote-id.ts';
import { LINK, section } from './leaf.ts';

const CLASS = {
  'x-class': 'keyonly',
  'x-reason': 'says by law who flies here',
} as const;

/** The section `remote_id`: what the transmitter on the vehicle says of the operator. */
export const remoteIdConfig = section('Remote ID', 'flight', {
  operator_id: {
    title: 'Operator number',
    type: 'string',
    format: 'operator-id',
    maxLength: 20,
    default: '',
    description: 'the operator’s number, without the secret part of an EU number; empty: none is sent',
    ...CLASS,
    ...LINK,
  },
  self_id: {
    title: 'Purpose of the flight',
    type: 'string',
    format: 'self-id',
    maxLength: 23,
    default: '',
    description: 'what the flight is for, in words that everybody may read; empty: none is sent',
    ...CLASS,
    ...LINK,
  },
  classification: {
    title: 'Category and class',
    enum: CLASSIFICATION_NAMES,
    'x-words': CLASSIFICATION_NAMES.map((name) =>
      name === 'undeclared'
        ? 'Undeclared'
        : name.replaceAll('-', ' ').replace(/^eu|c\d$/g, (word) => word.toUpperCase()),
    ),
    default: 'undeclared',
    description: 'category and class of the aircraft',
    ...CLASS,
    ...LINK,
  },
  operator_place: {
    title: 'Place of the operator',
    type: 'string',
    format: 'place-or-empty',
    maxLength: 64,
    default: '',
    description:
      'where the operator stands while nobody says so over the API: lat,lon or lat,lon,alt (degrees, m above the ellipsoid)',
    ...CLASS,
    ...LINK,
  },
});
