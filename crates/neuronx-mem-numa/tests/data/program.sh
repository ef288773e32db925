#!/bin/sh
# Every program of the tests is a link to this file: one that was just written may be "text file busy".
. "$0.lines"
