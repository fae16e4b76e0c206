package world

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// errNotArithmetic is why an expression has no value here.
var errNotArithmetic = errors.New("not a sum of numbers")

// arithmetic is the value of an expression of numbers, + - * / and brackets. A
// calculator that made its answers up would teach an agent nothing and blame it
// for the rest.
func arithmetic(expression string) (float64, error) {
	const longest = 1000 // far beyond what a person would type, and the nesting stays small
	if len(expression) > longest {
		return 0, errNotArithmetic
	}
	s := sum{left: strings.NewReplacer("×", "*", "÷", "/", "−", "-", ",", "", "_", "", " ", "", "\t", "", "$", "", "€", "").Replace(expression)}
	v, err := s.terms()
	if err != nil || s.left != "" || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, errNotArithmetic
	}
	return v, nil
}

// sum is an expression on its way, by recursive descent.
type sum struct{ left string }

// next takes one of the marks off the front, 0 where none stands there.
func (s *sum) next(marks string) byte {
	if s.left == "" || strings.IndexByte(marks, s.left[0]) < 0 {
		return 0
	}
	mark := s.left[0]
	s.left = s.left[1:]
	return mark
}

func (s *sum) terms() (float64, error) {
	v, err := s.factors()
	for err == nil {
		mark := s.next("+-")
		if mark == 0 {
			break
		}
		var w float64
		w, err = s.factors()
		if mark == '-' {
			w = -w
		}
		v += w
	}
	return v, err
}

func (s *sum) factors() (float64, error) {
	v, err := s.number()
	for err == nil {
		mark := s.next("*/")
		if mark == 0 {
			break
		}
		var w float64
		w, err = s.number()
		if mark == '*' {
			v *= w
		} else {
			v /= w
		}
	}
	return v, err
}

func (s *sum) number() (float64, error) {
	switch s.next("+-(") {
	case '-':
		v, err := s.number()
		return -v, err
	case '+':
		return s.number()
	case '(':
		v, err := s.terms()
		if err == nil && s.next(")") == 0 {
			err = errNotArithmetic
		}
		return v, err
	}
	end := 0
	for end < len(s.left) && (s.left[end] >= '0' && s.left[end] <= '9' || s.left[end] == '.') {
		end++
	}
	v, err := strconv.ParseFloat(s.left[:end], 64)
	s.left = s.left[end:]
	return v, err
}
