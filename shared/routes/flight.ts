import { calibrationRequest, calibrationState } from '../schemas/calibration.ts';
import { commandAnswer, commandList, commandRequest } from '../schemas/command.ts';
import { messagesQuery, seenMessages } from '../schemas/inspector.ts';
import { manualMessage } from '../schemas/manual.ts';
import { noBody } from '../schemas/no-body.ts';
import { offboardMessage } from '../schemas/offboard.ts';
import {
  paramList,
  paramListQuery,
  paramListWrite,
  paramListWritten,
  paramsChanged,
  paramsDescribed,
  paramsReset,
  paramsResetDone,
  paramValue,
  paramWrite,
  paramWritten,
} from '../schemas/params.ts';
import { operatorPlace, remoteId } from '../schemas/remote-id.ts';
import { rtkState } from '../schemas/rtk.ts';
import { serialPorts } from '../schemas/serial-ports.ts';
import * as signing from '../schemas/signing.ts';
import { heldQuery, mavlinkQuery, telemetry, telemetryQuery } from '../schemas/telemetry.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { BYTES, json, LIMITS, media, PARAM } from './row-parts.ts';

const { row } = domain({
  lane: 'front',
  feature: 'flight',
  profiles: 'DG',
  params: { name: PARAM.fcParam },
});

export const telemetryStream = row(
  'telemetry.ws.ws',
  'WS /api/telemetry/ws',
  'ws read ok -',
  'telemetry stream',
  {
    ticket: 'telemetry',
    query: telemetryQuery,
    responses: json('the body of GET /api/telemetry, one text message each', telemetry),
  },
);

export const mavlinkStream = row(
  'mavlink.ws.ws',
  'WS /api/mavlink/ws',
  'ws read ok -',
  'raw MAVLink frames both ways',
  {
    ticket: 'mavlink',
    blast: 'aircraft',
    query: mavlinkQuery,
    responses: media('one frame in each binary message', 'application/octet-stream'),
  },
);

const offboardStream = row(
  'offboard.ws.ws',
  'WS /api/offboard/ws',
  'ws read ok -',
  'set-points; sending needs flight',
  {
    ticket: 'offboard',
    query: heldQuery,
    blast: 'aircraft',
    responses: json(
      'who sends set-points and whether the vehicle follows, one text message each',
      offboardMessage,
    ),
  },
);

const manualStream = row(
  'manual.ws.ws',
  'WS /api/manual/ws',
  'ws read ok -',
  'sticks; sending needs flight',
  {
    ticket: 'manual',
    query: heldQuery,
    blast: 'aircraft',
    responses: json('who has the sticks, one text message each', manualMessage),
  },
);

export const flightRows = [
  row(
    'command.post',
    'POST /api/command',
    'key flight ok - aircraft',
    'send a flight-controller command; killSwitch needs destructive',
    {
      names: [{ kind: 'command', in: 'body', member: 'cmd' }],
      limits: LIMITS.flight,
      long: true,
      body: commandRequest,
      fails: ['E_TOO_FAR', 'E_STICKS', 'E_NO_FC', 'E_UPSTREAM_DOWN', 'E_TIMEOUT', 'E_RATE_LIMITED'],
      responses: json("the vehicle's verdict", commandAnswer),
    },
  ),
  row('commands.get', 'GET /api/commands', 'key read ok -', 'supported commands', {
    responses: json('commands and their arguments', commandList),
  }),
  row('telemetry.get', 'GET /api/telemetry', 'key read ok -', 'cached telemetry snapshot', {
    responses: json('newest values; null where none was received', telemetry),
  }),
  telemetryStream,
  row('params.get', 'GET /api/params', 'key read ok -', 'cached parameters', {
    query: paramListQuery,
    fails: ['E_NO_FC', 'E_UPSTREAM_DOWN'],
    responses: json('the parameters downloaded so far', paramList),
  }),
  row('params.put', 'PUT /api/params', 'key admin ok guard aircraft', 'write several parameters', {
    limits: LIMITS.slow,
    names: [{ kind: 'parameter', in: 'body-members', member: 'params' }],
    body: paramListWrite,
    fails: ['E_NOT_FOUND', 'E_RANGE', 'E_NO_FC', 'E_UPSTREAM_DOWN', 'E_TIMEOUT'],
    responses: json('all are written', paramListWritten),
  }),
  row(
    'params.descriptions.put',
    'PUT /api/params/descriptions',
    // It is read in the process that flies.
    'key admin ok guard config',
    "load descriptions of parameters: ArduPilot's apm.pdef.json or PX4's parameters.json, as it is or as .xz",
    {
      limits: LIMITS.descriptions,
      bodyKind: 'stream',
      streamed: { 'application/octet-stream': BYTES },
      fails: ['E_INVALID_VALUE', 'E_STORE'],
      responses: json('the file is kept, in place of an older one', paramsDescribed),
    },
  ),
  row('params.name.get', 'GET /api/params/{name}', 'key read ok -', 'one parameter', {
    fails: ['E_NO_FC', 'E_UPSTREAM_DOWN'],
    responses: json('the value', paramValue),
  }),
  row('params.name.post', 'POST /api/params/{name}', 'key admin ok guard aircraft', 'write one parameter', {
    limits: LIMITS.slow,
    names: [{ kind: 'parameter', in: 'path', member: 'name' }],
    body: paramWrite,
    fails: ['E_RANGE', 'E_NO_FC', 'E_UPSTREAM_DOWN', 'E_TIMEOUT'],
    responses: json('the vehicle has reported the value', paramWritten),
  }),
  row('params.name.put', 'PUT /api/params/{name}', 'key admin ok guard aircraft', 'write one parameter', {
    limits: LIMITS.slow,
    names: [{ kind: 'parameter', in: 'path', member: 'name' }],
    body: paramWrite,
    fails: ['E_RANGE', 'E_NO_FC', 'E_UPSTREAM_DOWN', 'E_TIMEOUT'],
    responses: json('the vehicle has reported the value', paramWritten),
  }),
  row(
    'mavlink.ports.get',
    'GET /api/mavlink/ports',
    'key read ok -',
    'serial ports a flight controller may be on',
    { responses: json('the ports, none of them opened', serialPorts) },
  ),
  mavlinkStream,
  row(
    'mavlink.signing.capability.get',
    'GET /api/mavlink/signing/capability',
    'key read ok -',
    'signing capability of the flight controller',
    {
      fails: ['E_UPSTREAM_DOWN'],
      responses: json('whether it can be enrolled, and why not', signing.capability),
    },
  ),
  row(
    'mavlink.signing.require.get',
    'GET /api/mavlink/signing/require',
    'key read ok -',
    'whether signed frames are required',
    {
      fails: ['E_NOT_FOUND', 'E_NO_FC', 'E_UPSTREAM_DOWN'],
      responses: json('as the vehicle reports', signing.require),
    },
  ),
  row(
    'mavlink.signing.counters.get',
    'GET /api/mavlink/signing/counters',
    'key read ok -',
    'signed frames seen',
    { fails: ['E_UPSTREAM_DOWN'], responses: json('counted since svc-link started', signing.counters) },
  ),
  row(
    'mavlink.signing.enroll-fc.post',
    'POST /api/mavlink/signing/enroll-fc',
    'key destructive ok guard link',
    'enrol a signing key on the flight controller',
    {
      limits: LIMITS.slow,
      body: signing.enrolRequest,
      fails: ['E_NO_FC', 'E_UPSTREAM_DOWN', 'E_TIMEOUT'],
      responses: json('the vehicle signs with this key', signing.enrolled),
    },
  ),
  row(
    'mavlink.signing.disable-on-fc.post',
    'POST /api/mavlink/signing/disable-on-fc',
    'key destructive forbid guard link',
    'disable signing on the flight controller',
    {
      limits: LIMITS.slow,
      body: noBody,
      fails: ['E_NO_FC', 'E_UPSTREAM_DOWN', 'E_TIMEOUT'],
      responses: json('the vehicle no longer signs', signing.disabled),
    },
  ),
  row(
    'mavlink.signing.require.put',
    'PUT /api/mavlink/signing/require',
    'key destructive ok guard link',
    'require signed frames',
    {
      limits: LIMITS.slow,
      body: signing.requireRequest,
      fails: ['E_NOT_FOUND', 'E_NO_FC', 'E_UPSTREAM_DOWN', 'E_TIMEOUT'],
      responses: json('the vehicle has reported the value', signing.requireSet),
    },
  ),
  row(
    'params.changed.get',
    'GET /api/params/changed',
    'key read ok -',
    'parameters that differ from their defaults',
    {
      fails: ['E_NO_FC', 'E_UPSTREAM_DOWN', 'E_NOT_IMPLEMENTED'],
      responses: json('sorted by name', paramsChanged),
    },
  ),
  row(
    'params.reset.post',
    'POST /api/params/reset',
    'key destructive ok guard aircraft',
    'reset all parameters to their defaults',
    {
      limits: LIMITS.slow,
      names: [{ kind: 'parameter', in: 'body-list', member: 'names' }],
      body: paramsReset,
      fails: ['E_NOT_FOUND', 'E_NO_FC', 'E_UPSTREAM_DOWN', 'E_TIMEOUT', 'E_IDENTITY', 'E_NOT_IMPLEMENTED'],
      responses: json('the vehicle has taken it', paramsResetDone),
    },
  ),
  offboardStream,
  manualStream,
  row(
    'mavlink.messages.get',
    'GET /api/mavlink/messages',
    'key read ok -',
    'messages on the link, decoded, with their rates',
    {
      query: messagesQuery,
      fails: ['E_UPSTREAM_DOWN'],
      responses: json('by sender and id', seenMessages),
    },
  ),
  row('remote-id.get', 'GET /api/remote-id', 'key read ok -', 'state of the Remote ID transmitter', {
    fails: ['E_UPSTREAM_DOWN'],
    responses: json('what it last said', remoteId),
  }),
  row(
    'remote-id.operator-place.put',
    'PUT /api/remote-id/operator-place',
    'key flight ok - none',
    'where the operator stands',
    {
      limits: LIMITS.flight,
      body: operatorPlace,
      fails: ['E_UPSTREAM_DOWN', 'E_TIMEOUT'],
      responses: json('sent from now on, for 5 min', remoteId),
    },
  ),
  row('rtk.get', 'GET /api/rtk', 'key read ok -', 'corrections: source, state, messages', {
    fails: ['E_UPSTREAM_DOWN'],
    responses: json('since svc-link started', rtkState),
  }),
  row('calibration.get', 'GET /api/calibration', 'key read ok -', 'the running calibration', {
    long: true,
    limits: LIMITS.missionRead,
    fails: ['E_UPSTREAM_DOWN'],
    responses: json('the running or the newest one', calibrationState),
  }),
  row('calibration.post', 'POST /api/calibration', 'key admin ok guard aircraft', 'start a calibration', {
    limits: LIMITS.slow,
    body: calibrationRequest,
    fails: ['E_CALIBRATION', 'E_BUSY', 'E_NO_FC', 'E_UPSTREAM_DOWN', 'E_TIMEOUT'],
    responses: json('the vehicle has taken it', calibrationState),
  }),
  row('calibration.delete', 'DELETE /api/calibration', 'key admin ok - aircraft', 'cancel the calibration', {
    fails: ['E_CALIBRATION', 'E_BUSY', 'E_UPSTREAM_DOWN', 'E_TIMEOUT'],
    responses: json('its state now', calibrationState),
  }),
] as const satisfies readonly Row[];
